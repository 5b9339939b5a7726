// Puts the page together: state of the filter, the lists, the files, links to places.
const DATA = JSON.parse(document.getElementById('data').textContent);
const $ = (id) => document.getElementById(id);

const diagnostics = DATA.diagnostics.map(([code, severity, file, line, column, symbol, message, advice]) => ({
  code, severity, file, line, column, symbol, message, advice,
})); // prettier-ignore
const byFile = new Map();
for (const entry of diagnostics) byFile.set(entry.file, [...(byFile.get(entry.file) || []), entry]);
const files = DATA.files.map((file, index) => ({ ...file, index, path: DATA.names[index], element: null, diff: null }));
const apisOfFile = new Map();
DATA.apis.forEach((api) => {
  for (const [file] of api.p) apisOfFile.set(file, (apisOfFile.get(file) || new Set()).add(api));
});

const filter = { severities: new Set(), text: '', code: '', state: '', file: '', api: '' };
const sorting = { column: 0, way: 1 };

const fileMatches = (index) => DATA.names[index].toLowerCase().includes(filter.file);
const nameMatches = (name) => name.toLowerCase().includes(filter.api);
const textMatches = (...texts) => !filter.text || texts.some((text) => text.toLowerCase().includes(filter.text));
const chosen = () => filter.severities.size || filter.code; // what only diagnostics have

// What a file is to its reader: its errors come before what was done to it.
function stateOf(file) {
  return (byFile.get(file.index) || []).some((entry) => entry.severity === 2) ? 'needs work' : file.s;
}

const FILE_STATES = ['needs work', 'translated', 'unchanged', 'copied', 'generated', 'failed'];

// Whether a file's state passes; states of APIs pass with every file.
function stateMatches(index) {
  if (!FILE_STATES.includes(filter.state)) return true;
  return files[index] !== undefined && (files[index].s === filter.state || stateOf(files[index]) === filter.state);
}

function diagnosticMatches(entry) {
  const severe = !filter.severities.size || filter.severities.has(entry.severity);
  return severe && (!filter.code || entry.code === filter.code) && fileMatches(entry.file) && stateMatches(entry.file) &&
    (!filter.api || nameMatches(entry.symbol)) && textMatches(entry.code, entry.symbol, entry.message, entry.advice, DATA.names[entry.file]); // prettier-ignore
}

// The places of an API that pass; with a severity chosen, those where such a diagnostic stands.
function placesOf(api, found) {
  if (!nameMatches(api.n) || !textMatches(api.n, api.a, ...api.t)) return [];
  if (filter.state && !FILE_STATES.includes(filter.state) && api.s !== filter.state) return [];
  return api.p.filter(([file, line]) => fileMatches(file) && stateMatches(file) && (!chosen() || found.has(`${file}:${line}`)));
}

// The places of a task that pass, by its code or the name of its API.
function taskPlaces(task, found) {
  if (!nameMatches(`${task.n} ${task.c}`) || (filter.code && task.c !== filter.code)) return [];
  const says = textMatches(task.n, task.c, task.a);
  return task.p.filter(([file, line]) => fileMatches(file) && stateMatches(file) && (says || textMatches(DATA.names[file])) && (!chosen() || found.has(`${file}:${line}`)));
}

function fileShown(file, counted) {
  if (!fileMatches(file.index) || !stateMatches(file.index)) return false;
  if (chosen() && !counted.has(file.index)) return false;
  if (!counted.has(file.index) && !textMatches(file.path, ...codeOf(file))) return false;
  if (!filter.api || counted.has(file.index)) return true;
  return [...(apisOfFile.get(file.index) || [])].some((api) => nameMatches(api.n));
}

// The lines of both sides that the page carries; looked at only while something is searched for.
function codeOf(file) {
  if (!filter.text || !file.g) return [];
  return file.g.flatMap(([kind, a, b]) => (kind === 0 ? [] : kind === 1 ? a : [...a, ...b]));
}

function fill(id, count, total, content) {
  $(`${id}-tally`).textContent = count === total ? `${total}` : tr('{count} of {total}', { count, total });
  $(`${id}-list`).replaceChildren(...(content.length ? content : [el('p', { class: 'empty' }, total ? tr('Nothing passes the filter.') : tr('None.'))]));
}

function apply() {
  const passing = diagnostics.filter(diagnosticMatches);
  const found = new Set(passing.map((entry) => `${entry.file}:${entry.line}`));
  const counted = new Set(passing.map((entry) => entry.file));
  const apis = DATA.apis.map((api) => ({ ...api, p: placesOf(api, found) })).filter((api) => api.p.length);
  const tasks = DATA.tasks.map((task) => ({ ...task, p: taskPlaces(task, found) })).filter((task) => task.p.length);
  fill('todo', tasks.length, DATA.tasks.length, todoList(tasks));

  const groups = new Map();
  for (const entry of passing) {
    const key = `${2 - entry.severity}${entry.code}`;
    groups.set(key, [...(groups.get(key) || []), entry]);
  }
  const keys = [...groups.keys()].sort();
  const open = passing.length <= 12 || keys.length === 1;
  fill('diagnostics', passing.length, diagnostics.length, keys.map((key) => diagnosticGroup(key.slice(1), groups.get(key), open)));

  const items = DATA.checklist.filter((item) => {
    const inFile = item.p ? fileMatches(item.p[0]) : !filter.file;
    const severe = !chosen() || (item.p && found.has(`${item.p[0]}:${item.p[1]}`));
    const inState = item.p ? stateMatches(item.p[0]) : !filter.state;
    return inFile && inState && severe && (!filter.api || nameMatches(`${item.v} ${item.m}`)) && textMatches(item.t, item.v, item.m, item.n);
  });
  fill('checklist', items.length, DATA.checklist.length, items.length ? checklistGroups(items) : []);
  showApis(apis);
  showFiles(counted);

  $('clear').disabled = !Object.values(filter).some((value) => value.size ?? value);
  const shown = files.filter((file) => !file.element.hidden).length;
  $('shown').textContent = tr('{found} of {diagnostics}, {shown} of {files}', { found: passing.length, diagnostics: plural(diagnostics.length, 'diagnostic'), shown, files: plural(files.length, 'file') });
}

function showApis(apis) {
  const resort = (column) => {
    sorting.way = column === sorting.column ? -sorting.way : 1;
    sorting.column = column;
    showApis(apis);
    $('apis-list').querySelectorAll('th button')[column].focus();
  };
  fill('apis', apis.length, DATA.apis.length, apis.length ? [apiTable(apis, sorting, resort)] : []);
}

// Files: one details element each, made once; the filter hides them, and rebuilds the marks of the open ones.
function fileElement(file) {
  const counts = [0, 0, 0];
  for (const entry of byFile.get(file.index) || []) counts[entry.severity]++;
  const severities = [2, 1, 0].filter((severity) => counts[severity]).map((severity) =>
    el('span', { title: plural(counts[severity], SEVERITIES[severity]) }, mark(severity), String(counts[severity]),
      el('span', { class: 'sr' }, ` ${tr(SEVERITIES[severity])}`))); // prettier-ignore
  const lines = [
    file.add ? el('span', { class: 'plus', title: tr('lines added') }, `+${file.add}`) : null,
    file.del ? el('span', { class: 'minus', title: tr('lines removed') }, `−${file.del}`) : null,
  ];
  const summary = [
    el('span', { class: 'mono' }, file.path),
    stateOf(file) === 'needs work' && file.s !== 'failed' ? el('span', { class: 'pill error' }, tr('needs work')) : pill(file.s),
    file.crlf ? el('span', { class: 'pill', title: tr('Lines end with CR LF') }, 'CRLF') : null,
    el('span', { class: 'right' }, el('span', { class: 'severities' }, severities), lines),
  ];
  file.element = el('details', { class: 'item file', id: `file-${file.index}` }, el('summary', {}, summary));
  file.element.addEventListener('toggle', () => awaitFile(file));
  return file.element;
}

// An open file gets its body when it comes near the window; until then a blank of about its height stands there.
const LINE_HEIGHT = 20;
const nearby = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) if (entry.isIntersecting) openFile(files[Number(entry.target.dataset.file)]);
  },
  { rootMargin: '800px 0px' },
);

function awaitFile(file) {
  if (!file.element.open || file.element.children.length > 1) return;
  const lines = (file.g || []).reduce((sum, [kind, a, b]) => sum + (kind === 2 ? Math.max(a.length, b.length) : 8), 1);
  const blank = el('div', { 'data-file': String(file.index) });
  blank.style.height = `${Math.min(lines, PORTION) * LINE_HEIGHT}px`;
  file.element.append(blank);
  nearby.observe(blank);
}

function openFile(file) {
  const blank = file.element.querySelector(':scope > [data-file]');
  if (!file.element.open || (file.element.children.length > 1 && !blank)) return;
  if (blank) {
    nearby.unobserve(blank);
    blank.remove();
  }
  if (file.n) file.element.append(el('p', { class: 'filenote' }, file.n));
  const marks = (byFile.get(file.index) || []).filter(diagnosticMatches).sort((a, b) => b.severity - a.severity || a.column - b.column);
  if (file.g?.some(([kind, first, second]) => (kind ? first.length || second?.length : first))) {
    file.diff = new Diff(file, marks, { view: $('view').value, wrap: $('wrap').checked, sayMark });
    file.element.append(file.diff.element);
    return;
  }
  file.element.append(el('p', { class: 'filenote' }, absence(file)));
  if (marks.length) {
    file.element.append(el('table', { class: 'diff' }, el('tbody', {}, marks.map((entry) => sayMark(entry, 1, true)))));
  }
}

function absence(file) {
  if (file.g) return tr('The file is empty.');
  if (file.full) return tr('This page has no room for more code. The change is in changes.diff, beside it.');
  const reasons = {
    unchanged: tr('Needs no change: the output is the source, byte for byte.'),
    copied: tr('Copied byte for byte.'),
    generated: tr('Generated; its text is not part of the report.'),
  };
  return reasons[file.s] || tr('There is no text to show.');
}

// After a change of the filter or the view: bodies are made anew, as they come into sight.
function renewBodies() {
  for (const file of files) {
    if (file.element.children.length === 1) continue;
    const blank = file.element.querySelector(':scope > [data-file]');
    if (blank) nearby.unobserve(blank);
    while (file.element.children.length > 1) file.element.lastChild.remove();
    file.diff = null;
    awaitFile(file);
  }
}

function sayMark(entry, width, withLine) {
  const severity = SEVERITIES[entry.severity];
  return el('tr', { class: `says ${severity}` },
    el('td', { colspan: width },
      el('span', { class: 'head' }, mark(entry.severity), `${entry.code} ${tr(severity)}`),
      withLine ? tr('line {line}: ', { line: entry.line }) : '', prose(entry.message), ' ',
      entry.advice ? el('span', { class: 'advice' }, prose(entry.advice)) : null)); // prettier-ignore
}

function showFiles(counted) {
  let shown = 0;
  for (const file of files) {
    file.element.hidden = !fileShown(file, counted);
    if (!file.element.hidden) shown++;
  }
  $('files-tally').textContent = shown === files.length ? `${files.length}` : tr('{count} of {total}', { count: shown, total: files.length });
  $('files-empty').hidden = shown > 0;
  renewBodies();
}

// Files in the order of what a person has to do there: errors, warnings, changes; or by name.
function orderFiles() {
  const count = (file, severity) => (byFile.get(file.index) || []).filter((entry) => entry.severity === severity).length;
  const need = new Map(files.map((file) => [file, [file.s === 'failed' ? 1 : 0, count(file, 2), count(file, 1), file.s === 'translated' ? 1 : 0]]));
  const byNeed = (a, b) => need.get(b).map((value, index) => value - need.get(a)[index]).find(Boolean) || a.index - b.index;
  const ordered = [...files].sort($('order').value === 'need' ? byNeed : (a, b) => a.index - b.index);
  $('files-list').prepend(...ordered.map((file) => file.element));
}

// Links that stay true in a later report: #/train.py:25 shows a line, #?code=T2M203&file=models what passes a filter.
const KEYS = ['text', 'code', 'state', 'file', 'api'];

function keepFilter() {
  const said = new URLSearchParams(KEYS.filter((key) => filter[key]).map((key) => [key, filter[key]]));
  if (filter.severities.size) said.set('severity', [...filter.severities].sort().map((number) => SEVERITIES[number]).join(' '));
  const text = said.toString();
  if (text || location.hash.startsWith('#?')) history.replaceState(null, '', text ? `#?${text}` : location.pathname);
}

function readFilter() {
  if (!location.hash.startsWith('#?')) return false;
  const said = new URLSearchParams(location.hash.slice(2));
  for (const key of KEYS) $(`by-${key}`).value = filter[key] = said.get(key) || '';
  filter.severities = new Set((said.get('severity') || '').split(' ').map((name) => SEVERITIES.indexOf(name)).filter((number) => number >= 0));
  for (const button of document.querySelectorAll('.toggle')) button.setAttribute('aria-pressed', String(filter.severities.has(Number(button.dataset.severity))));
  return true;
}

function placeOfHash() {
  const match = /^#f(\d+)L(\d+)$/.exec(location.hash);
  if (match) return [files[Number(match[1])], Number(match[2])];
  const named = /^#\/(.*):(\d+)$/.exec(location.hash);
  if (!named) return [];
  try {
    const path = decodeURIComponent(named[1]);
    return [files.find((file) => file.path === path), Number(named[2])];
  } catch {
    return []; // no text that a browser wrote
  }
}

function followHash() {
  if (readFilter()) {
    apply();
    $('todo').scrollIntoView();
    return;
  }
  const [file, line] = placeOfHash();
  if (!file) return;
  file.element.hidden = false;
  file.element.open = true;
  openFile(file);
  for (const old of document.querySelectorAll('tr.at, tr.flash')) old.classList.remove('at', 'flash');
  const row = file.diff?.reveal(line);
  const target = row || file.element.querySelector('summary');
  target.scrollIntoView({ block: row ? 'center' : 'start' });
  if (row) {
    row.classList.add('at', 'flash');
    const cell = row.querySelector('.c');
    cell.setAttribute('tabindex', '-1');
    cell.focus({ preventScroll: true });
  } else target.focus({ preventScroll: true });
}

function setTheme(theme) {
  if (theme === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  $('theme').textContent = { auto: tr('Theme: auto'), light: tr('Theme: light'), dark: tr('Theme: dark') }[theme];
}

function remembered(key, value) {
  try {
    if (value !== undefined) localStorage.setItem(key, value);
    return localStorage.getItem(key);
  } catch {
    return null; // a page opened from a file may have no storage
  }
}

function start() {
  setTheme({ light: 'light', dark: 'dark' }[remembered('torch2ms-theme')] || 'auto');
  $('theme').addEventListener('click', () => {
    const next = { auto: 'light', light: 'dark', dark: 'auto' }[document.documentElement.dataset.theme || 'auto'];
    setTheme(next);
    remembered('torch2ms-theme', next);
  });
  if (matchMedia('(max-width: 60rem)').matches) $('view').value = 'unified';
  $('files-list').append(...files.map(fileElement), el('p', { class: 'empty', id: 'files-empty', hidden: true }, files.length ? tr('Nothing passes the filter.') : tr('None.')));
  $('file-names').append(...files.map((file) => el('option', { value: file.path })));
  $('api-names').append(...DATA.apis.map((api) => el('option', { value: api.n })));

  $('filters').addEventListener('submit', (event) => event.preventDefault());
  for (const button of document.querySelectorAll('.toggle')) {
    button.addEventListener('click', () => {
      const severity = Number(button.dataset.severity);
      if (!filter.severities.delete(severity)) filter.severities.add(severity);
      button.setAttribute('aria-pressed', String(filter.severities.has(severity)));
      keepFilter();
      apply();
    });
  }
  for (const key of ['text', 'file', 'api']) {
    let timer = 0;
    $(`by-${key}`).addEventListener('input', () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        filter[key] = $(`by-${key}`).value.trim().toLowerCase();
        keepFilter();
        apply();
      }, 120);
    });
  }
  for (const key of ['code', 'state']) {
    $(`by-${key}`).addEventListener('change', () => {
      filter[key] = $(`by-${key}`).value;
      keepFilter();
      apply();
    });
  }
  $('clear').addEventListener('click', () => {
    filter.severities.clear();
    for (const key of KEYS) filter[key] = $(`by-${key}`).value = '';
    for (const button of document.querySelectorAll('.toggle')) button.setAttribute('aria-pressed', 'false');
    keepFilter();
    apply();
    $('by-text').focus();
  });
  $('order').addEventListener('change', orderFiles);
  $('view').addEventListener('change', renewBodies);
  $('wrap').addEventListener('change', renewBodies);
  $('expand').addEventListener('click', () => {
    for (const file of files) if (!file.element.hidden && file.g) file.element.open = true;
  });
  $('collapse').addEventListener('click', () => files.forEach((file) => (file.element.open = false)));
  addEventListener('hashchange', followHash);
  document.addEventListener('click', (event) => {
    const link = event.target.closest?.('a[href^="#/"]');
    if (link && link.hash === location.hash) followHash(); // the same place again
  });
  new ResizeObserver(() => {
    const isSticky = getComputedStyle($('filters')).position === 'sticky';
    document.documentElement.style.setProperty('--sticky', `${isSticky ? $('filters').offsetHeight : 0}px`);
  }).observe($('filters'));
  orderFiles();
  readFilter();
  apply();
  followHash();
}

start();
