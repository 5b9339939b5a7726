// Diffs. A file's segments become rows once, when it is opened; rows become elements when they are shown.
const CONTEXT = 3; // equal lines left around a change or a mark
const FOLD_FROM = 9; // shorter equal stretches are not folded
const PORTION = 1500; // rows put on the page at once
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/gu;

// A text in the language of the page, with its placeholders filled in.
function tr(text, values = {}) {
  return (DATA.words[text] || text).replace(/\{(\w+)\}/g, (whole, key) => (key in values ? values[key] : whole));
}

function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? '' : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ''));
  return node;
}

// Rows: {kind: 'line', o, n, ot, nt, change} (numbers from 1, or 0), {kind: 'gap', count}.
function rowsOf(file) {
  const rows = [];
  let o = 1;
  let n = 1;
  for (const [kind, first, second] of file.g) {
    if (kind === 0) {
      rows.push({ kind: 'gap', count: first });
      o += first;
      n += first;
    } else if (kind === 1) {
      for (const text of first) rows.push({ kind: 'line', o: o++, n: n++, ot: text, nt: text, change: false });
    } else {
      for (const [i, j] of pairLines(first, second)) {
        rows.push({
          kind: 'line', change: true,
          o: i < 0 ? 0 : o + i, ot: i < 0 ? null : first[i],
          n: j < 0 ? 0 : n + j, nt: j < 0 ? null : second[j],
        }); // prettier-ignore
      }
      o += first.length;
      n += second.length;
    }
  }
  return rows;
}

// Puts lines that resemble each other beside each other, in order: the alignment with the greatest sum of likeness.
function pairLines(old, fresh) {
  const pairs = [];
  if (old.length * fresh.length > 40000 || !old.length || !fresh.length) {
    const paired = old.length && fresh.length;
    for (let i = 0; i < Math.max(old.length, fresh.length); i++) {
      pairs.push([i < old.length ? i : -1, paired ? (i < fresh.length ? i : -1) : old.length ? -1 : i]);
    }
    return pairs;
  }
  const bags = [old, fresh].map((lines) => lines.map(bagOf));
  const width = fresh.length + 1;
  const best = new Float32Array((old.length + 1) * width);
  const like = (i, j) => likeness(bags[0][i], bags[1][j]);
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = fresh.length - 1; j >= 0; j--) {
      const both = like(i, j) > 0.3 ? best[(i + 1) * width + j + 1] + like(i, j) : -1;
      best[i * width + j] = Math.max(both, best[(i + 1) * width + j], best[i * width + j + 1]);
    }
  }
  let i = 0;
  let j = 0;
  while (i < old.length && j < fresh.length) {
    const here = best[i * width + j];
    if (like(i, j) > 0.3 && Math.abs(here - best[(i + 1) * width + j + 1] - like(i, j)) < 1e-5) pairs.push([i++, j++]);
    else if (here === best[(i + 1) * width + j]) pairs.push([i++, -1]);
    else pairs.push([-1, j++]);
  }
  while (i < old.length) pairs.push([i++, -1]);
  while (j < fresh.length) pairs.push([-1, j++]);
  return pairs;
}

function bagOf(line) {
  return new Set(line.slice(0, 400).match(/\w+/gu) || []);
}

// Share of words in common, 0 to 1 (Dice's coefficient).
function likeness(a, b) {
  if (!a.size || !b.size) return 0;
  let both = 0;
  for (const word of a) if (b.has(word)) both++;
  return (2 * both) / (a.size + b.size);
}

// Colours both sides in reading order, since a string may run over many lines.
function colourRows(rows, python) {
  if (!python) return;
  let old = '';
  let fresh = '';
  for (const row of rows) {
    if (row.kind === 'gap') {
      old = fresh = '';
      continue;
    }
    if (row.ot !== null) [row.oc, old] = colourPython(row.ot, old);
    if (!row.change && old === fresh) row.nc = row.oc;
    else if (row.nt !== null) [row.nc, fresh] = colourPython(row.nt, fresh);
    if (!row.change) fresh = old;
  }
}

// Decides which rows show at first: changes, marked lines and what is around them.
function foldRows(rows, marked) {
  const keep = new Uint8Array(rows.length);
  rows.forEach((row, index) => {
    if (row.kind === 'gap' || row.change || marked.has(row.o)) {
      const from = Math.max(0, index - CONTEXT);
      keep.fill(1, row.kind === 'gap' ? index : from, Math.min(rows.length, row.kind === 'gap' ? index + 1 : index + CONTEXT + 1));
    }
  });
  const blocks = [];
  for (let start = 0; start < rows.length; ) {
    let end = start;
    while (end < rows.length && keep[end] === keep[start]) end++;
    blocks.push({ rows: rows.slice(start, end), folded: !keep[start] && end - start >= FOLD_FROM });
    start = end;
  }
  return blocks;
}

function codeCell(text, tokens, changes, side, sign) {
  if (text === null) return el('td', { class: 'c void' });
  const cell = el('td', { class: side ? `c ${side}` : 'c', 'data-sign': sign });
  let at = 0;
  const bold = changes || [];
  for (const [token, style] of tokens || [[text, '']]) {
    let from = 0;
    while (from < token.length) {
      const range = bold.find(([, end]) => end > at + from);
      const inside = range && range[0] <= at + from;
      const stop = range ? (inside ? range[1] : range[0]) - at : token.length;
      const to = Math.min(token.length, stop);
      cell.append(piece(token.slice(from, to), style, inside));
      from = to;
    }
    at += token.length;
  }
  return cell;
}

function piece(text, style, bold) {
  const parts = text.search(CONTROL) >= 0 ? spellOut(text) : [text];
  if (!style && !bold) return parts.length === 1 && typeof parts[0] === 'string' ? parts[0] : el('span', {}, parts);
  return el(bold ? 'b' : 'span', { class: style || null }, parts);
}

function spellOut(text) {
  const parts = [];
  let at = 0;
  for (const match of text.matchAll(CONTROL)) {
    const number = match[0].codePointAt(0);
    parts.push(text.slice(at, match.index), el('span', { class: 'ctl' }, `U+${number.toString(16).toUpperCase().padStart(4, '0')}`));
    at = match.index + match[0].length;
  }
  parts.push(text.slice(at));
  return parts;
}

function numberCell(number) {
  return el('td', { class: 'n', 'data-n': number || null });
}

// Returns the table rows of one row of the diff in a view: 'split', 'unified', 'old' or 'new' (one side only).
function lineElements(row, view) {
  const both = row.change && row.ot !== null && row.nt !== null && likeness(bagOf(row.ot), bagOf(row.nt)) > 0.3;
  const [was, is] = both ? wordChanges(row.ot.slice(0, 2000), row.nt.slice(0, 2000)) : [null, null];
  const oldSide = row.change ? 'old' : '';
  const newSide = row.change ? 'new' : '';
  if (view === 'old') return [el('tr', { 'data-o': row.o }, numberCell(row.o), codeCell(row.ot, row.oc))];
  if (view === 'new') return [el('tr', { 'data-new': row.n }, numberCell(row.n), codeCell(row.nt, row.nc))];
  if (view === 'split') {
    return [
      el('tr', { 'data-o': row.o || null, 'data-new': row.n || null },
        numberCell(row.o), codeCell(row.ot, row.oc, was, oldSide, row.change ? '−' : null),
        numberCell(row.n), codeCell(row.nt, row.nc, is, newSide, row.change ? '+' : null)),
    ]; // prettier-ignore
  }
  if (!row.change) {
    return [el('tr', { 'data-o': row.o, 'data-new': row.n }, numberCell(row.o), numberCell(row.n), codeCell(row.nt, row.nc))];
  }
  const elements = [];
  if (row.ot !== null) {
    elements.push(el('tr', { 'data-o': row.o }, numberCell(row.o), numberCell(0), codeCell(row.ot, row.oc, was, 'old', '−')));
  }
  if (row.nt !== null) {
    elements.push(el('tr', { 'data-new': row.n }, numberCell(0), numberCell(row.n), codeCell(row.nt, row.nc, is, 'new', '+')));
  }
  return elements;
}

const COLUMNS = { split: ['ln', '', 'ln', ''], unified: ['ln', 'ln', ''], old: ['ln', ''], new: ['ln', ''] };

// One opened diff: its element, and ``reveal`` to bring a line of the source onto the page.
class Diff {
  constructor(file, marks, options) {
    this.file = file;
    this.view = file.one || options.view;
    this.marks = new Map();
    for (const mark of marks) this.marks.set(mark.line, [...(this.marks.get(mark.line) || []), mark]);
    this.sayMark = options.sayMark;
    this.rows = rowsOf(file);
    colourRows(this.rows, /\.pyi?$/.test(file.path));
    this.body = el('tbody');
    const heads = this.view === 'split' ? ['source line', 'source', 'output line', 'output'] : COLUMNS[this.view].map((c) => (c ? 'line' : 'code'));
    this.element = el('div', { class: 'diff-scroll' },
      el('table', { class: `diff ${this.view}${options.wrap ? '' : ' nowrap'}` },
        el('caption', { class: 'sr' }, tr('{path}: source and output', { path: file.path })),
        el('colgroup', {}, COLUMNS[this.view].map((name) => el('col', { class: name || null }))),
        el('thead', { class: 'sr' }, el('tr', {}, heads.map((head) => el('th', { scope: 'col' }, tr(head))))),
        this.body)); // prettier-ignore
    this.queue = foldRows(this.rows, this.marks);
    this.unseen(0);
    this.showMore();
  }

  get width() {
    return COLUMNS[this.view].length;
  }

  // Marks whose line is on no row (a line beyond the file's end, or in a part that is not carried) stand on top.
  unseen() {
    const seen = new Set(this.rows.map((row) => row.o));
    for (const [line, marks] of this.marks) {
      if (!seen.has(line)) this.body.append(...marks.map((mark) => this.sayMark(mark, this.width, true)));
    }
  }

  rowElements(row) {
    if (row.kind === 'gap') return [this.fold(el('p', {}, tr('{count} unchanged lines are not carried by this page', { count: row.count })))];
    const elements = lineElements(row, this.view);
    const said = (row.o && this.marks.get(row.o)) || [];
    const where = elements.findIndex((node) => node.dataset.o === String(row.o));
    if (said.length) elements.splice(where < 0 ? 0 : where + 1, 0, ...said.map((mark) => this.sayMark(mark, this.width, false)));
    if (row === this.rows[this.rows.length - 1]) elements.push(...this.ending());
    return elements;
  }

  ending() {
    const [old, fresh] = this.file.end;
    if (old && fresh) return [];
    const text = old ? tr('The output ends without a newline') : fresh ? tr('The source ends without a newline')
      : this.file.one ? tr('The file ends without a newline') : tr('Both end without a newline'); // prettier-ignore
    return [this.fold(el('p', {}, text))];
  }

  fold(content) {
    return el('tr', { class: 'fold' }, el('td', { colspan: this.width }, content));
  }

  showMore() {
    this.rest?.remove();
    for (let shown = 0; this.queue.length && shown < PORTION; ) {
      const block = this.queue.shift();
      this.body.append(...(block.folded ? [this.foldButton(block.rows)] : this.portion(block.rows)));
      shown += block.folded ? 1 : Math.min(PORTION, block.rows.length);
    }
    this.offerRest();
  }

  offerRest() {
    if (!this.queue.length) return;
    const left = this.queue.reduce((sum, block) => sum + block.rows.length, 0);
    this.rest = this.fold(el('button', { type: 'button', onclick: () => this.showMore() }, tr('Show more: {left} lines are left', { left })));
    this.body.append(this.rest);
  }

  // Elements of at most PORTION rows, around a line when one is asked for; what is left out can be unfolded.
  portion(rows, line) {
    const at = line ? rows.findIndex((row) => row.o === line) : 0;
    const from = rows.length <= PORTION ? 0 : Math.max(0, at - 50);
    const to = Math.min(rows.length, from + PORTION);
    return [
      ...(from > 0 ? [this.foldButton(rows.slice(0, from))] : []),
      ...rows.slice(from, to).flatMap((row) => this.rowElements(row)),
      ...(to < rows.length ? [this.foldButton(rows.slice(to))] : []),
    ];
  }

  foldButton(rows) {
    const count = rows.filter((row) => row.kind === 'line').length;
    const text = rows.some((row) => row.change) ? tr('⋯ {count} lines', { count }) : tr('⋯ {count} unchanged lines', { count });
    const row = this.fold(el('button', { type: 'button', onclick: () => this.unfold(row) }, text));
    row.foldedRows = rows;
    return row;
  }

  unfold(fold, line) {
    const elements = this.portion(fold.foldedRows, line);
    fold.replaceWith(...elements);
    const cell = elements[0].querySelector('.c, button');
    if (cell?.matches('.c')) cell.setAttribute('tabindex', '-1');
    cell?.focus({ preventScroll: true });
  }

  find(line) {
    return this.body.querySelector(`tr[data-o="${line}"]`);
  }

  // Returns the row of a line of the source, unfolding what hides it; null when the page does not carry it.
  reveal(line) {
    if (this.find(line)) return this.find(line);
    const holds = (rows) => rows.some((row) => row.o === line);
    for (const fold of this.body.querySelectorAll('tr.fold')) {
      if (fold.foldedRows && holds(fold.foldedRows)) this.unfold(fold, line);
    }
    if (!this.find(line) && this.queue.some((block) => holds(block.rows))) this.skipTo(line, holds);
    return this.find(line);
  }

  // Goes on at a line further down; what stands before it is left folded.
  skipTo(line, holds) {
    this.rest?.remove();
    const at = this.queue.findIndex((block) => holds(block.rows));
    const skipped = this.queue.splice(0, at).flatMap((block) => block.rows);
    if (skipped.length) this.body.append(this.foldButton(skipped));
    this.body.append(...this.portion(this.queue.shift().rows, line));
    this.offerRest();
  }
}
