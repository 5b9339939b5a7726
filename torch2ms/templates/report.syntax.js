// Colours Python one line at a time. A line is a list of [text, class]; what is open at its end (a triple-quoted
// string) is handed to the next line.
const KEYWORDS = new Set(
  ('False None True and as assert async await break case class continue def del elif else except finally for from ' +
    'global if import in is lambda match nonlocal not or pass raise return try while with yield').split(' '),
);
const TOKEN =
  /#.*|[rRbBfFuU]{0,2}(?:"""|''')|[rRbBfFuU]{0,2}(?:"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?)|0[xXoObB][\da-fA-F_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?j?|@?[^\W\d]\w*|\s+|[^\s\w]|./gu;

function closeTriple(line, from, quote) {
  for (let at = from; at < line.length; at++) {
    if (line[at] === '\\') at++;
    else if (line.startsWith(quote, at)) return at + 3;
  }
  return -1;
}

function colourPython(line, open) {
  const tokens = [];
  let at = 0;
  if (open) {
    const end = closeTriple(line, 0, open);
    if (end < 0) return [[[line, 's']], open];
    tokens.push([line.slice(0, end), 's']);
    at = end;
  }
  let previous = '';
  TOKEN.lastIndex = at;
  for (let match; TOKEN.lastIndex < line.length && (match = TOKEN.exec(line)); ) {
    const text = match[0];
    const quote = /^[a-zA-Z]{0,2}("""|''')$/.exec(text);
    if (quote) {
      const end = closeTriple(line, TOKEN.lastIndex, quote[1]);
      tokens.push([line.slice(match.index, end < 0 ? undefined : end), 's']);
      if (end < 0) return [tokens, quote[1]];
      TOKEN.lastIndex = end;
    } else {
      tokens.push([text, classOf(text, previous)]);
    }
    if (text.trim()) previous = text;
  }
  return [tokens, ''];
}

function classOf(text, previous) {
  if (text[0] === '#') return 'm';
  if (/["']/.test(text)) return 's';
  if (/^\.?\d/.test(text)) return 'd';
  if (KEYWORDS.has(text)) return 'k';
  if (previous === 'def' || previous === 'class' || /^@\w/.test(text)) return 'f';
  return '';
}

const WORD = /\w+|\s+|[^\s\w]/gu;

// Returns the ranges [start, end) of each of two lines that the other does not have.
function wordChanges(before, after) {
  const a = before.match(WORD) || [];
  const b = after.match(WORD) || [];
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const inner = [a.slice(head, a.length - tail), b.slice(head, b.length - tail)];
  const kept = inner[0].length * inner[1].length <= 10000 ? commonTokens(inner[0], inner[1]) : [new Set(), new Set()];
  return [ranges(a, head, tail, kept[0]), ranges(b, head, tail, kept[1])];
}

// Longest common subsequence; returns the positions on each side.
function commonTokens(a, b) {
  const width = b.length + 1;
  const best = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      best[i * width + j] =
        a[i] === b[j] ? best[(i + 1) * width + j + 1] + 1 : Math.max(best[(i + 1) * width + j], best[i * width + j + 1]);
    }
  }
  const left = new Set();
  const right = new Set();
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) {
      left.add(i++);
      right.add(j++);
    } else if (best[(i + 1) * width + j] >= best[i * width + j + 1]) i++;
    else j++;
  }
  return [left, right];
}

function ranges(tokens, head, tail, kept) {
  const found = [];
  let at = 0;
  tokens.forEach((token, index) => {
    const inner = index >= head && index < tokens.length - tail && !kept.has(index - head);
    const last = found[found.length - 1];
    if (inner && last && last[1] === at) last[1] += token.length;
    else if (inner) found.push([at, at + token.length]);
    at += token.length;
  });
  return found;
}
