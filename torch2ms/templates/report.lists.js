// The lists above the diffs. Each builder gets what passes the filter and returns elements.
const SEVERITIES = ['note', 'warning', 'error'];
const FEW = 400; // entries built at once in one list

function plural(count, noun) {
  const counted = `{number} ${noun}`;
  return DATA.words[counted] ? tr(counted, { number: count }) : `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function pill(text) {
  return el('span', { class: `pill ${text}` }, tr(text));
}

// Text in which `backticks` stand for code.
function prose(text) {
  return text.split('`').map((part, index, parts) =>
    index % 2 && index < parts.length - 1 ? el('code', {}, part) : index % 2 ? `\`${part}` : part); // prettier-ignore
}

function placeLink(file, line, text) {
  const short = text && text.length < 30 ? 'place' : null;
  return el('a', { class: short, href: `#/${encodeURI(DATA.names[file])}:${line}`, 'aria-label': text ? null : tr('{path}, line {line}', { path: DATA.names[file], line }) }, text || String(line));
}

function mark(severity) {
  return el('i', { class: `mark ${SEVERITIES[severity]}`, 'aria-hidden': 'true' });
}

// A details element whose body is built when it is first opened.
function lazyDetails(attributes, summary, build, open) {
  const details = el('details', attributes, el('summary', {}, summary));
  const fill = () => {
    if (details.open && details.children.length === 1) details.append(...build());
  };
  details.addEventListener('toggle', fill);
  if (open) {
    details.open = true;
    fill();
  }
  return details;
}

// Appends entries in portions, with a button for the next one.
function portions(entries, build, parent) {
  let at = 0;
  const more = el('button', { type: 'button', class: 'quiet', onclick: () => next() });
  const next = () => {
    more.remove();
    for (const entry of entries.slice(at, at + FEW)) parent.append(build(entry));
    at += FEW;
    if (at < entries.length) {
      more.textContent = tr('Show more: {left} are left', { left: entries.length - at });
      parent.after(more);
    }
  };
  next();
}

function placeList(places) {
  const files = new Map();
  for (const [file, line] of places) files.set(file, (files.get(file) || new Map()).set(line, (files.get(file)?.get(line) || 0) + 1));
  const list = el('ul', { class: 'places' });
  const holder = el('div', {}, list);
  portions([...files], ([file, lines]) =>
    el('li', {}, el('span', { class: 'file' }, DATA.names[file]),
      [...lines].map(([line, times]) => el('span', {}, placeLink(file, line), times > 1 ? ` ×${times}` : ''))), list); // prettier-ignore
  return holder;
}

function todoItem(task) {
  const files = new Set(task.p.map(([file]) => file)).size;
  const summary = [
    mark(2),
    el('span', { class: 'mono' }, task.n),
    el('span', { class: 'mono' }, task.c),
    el('span', { class: 'right' }, el('span', {}, tr('to write: {what}', { what: task.e })), el('span', {}, tr('{places} in {files}', { places: plural(task.p.length, 'place'), files: plural(files, 'file') }))),
  ];
  const blocked = task.b.length ? el('p', { class: 'fine' }, tr('Stands in the way of {files}.', { files: task.b.map((file) => DATA.names[file]).join(', ') })) : null;
  const body = () => [el('div', { class: 'body' }, task.a ? el('p', {}, prose(task.a)) : null, blocked, placeList(task.p))];
  return lazyDetails({ class: 'item' }, summary, body, task.p.length <= 60);
}

// The tasks in their order, with a heading for each group.
function todoList(tasks) {
  return tasks.flatMap((task, index) => [
    ...(index && tasks[index - 1].g === task.g ? [] : [el('h3', {}, DATA.groups[task.g])]),
    todoItem(task),
  ]);
}

function diagnosticGroup(code, found, open) {
  const [name, meaning, advice] = DATA.codes[code] || ['', '', ''];
  const summary = [
    mark(found[0].severity),
    el('span', { class: 'mono' }, code),
    el('span', {}, name),
    el('span', { class: 'right' }, el('span', {}, tr(SEVERITIES[found[0].severity])), el('span', {}, plural(found.length, 'place'))),
  ];
  const body = () => {
    const rows = el('tbody');
    const table = el('table', { class: 'found' }, rows);
    const holder = el('div', { class: 'body' }, el('p', {}, prose(advice ? `${meaning} ${advice}` : meaning)), table);
    portions(found, (entry) =>
      el('tr', {}, el('td', {}, placeLink(entry.file, entry.line, `${DATA.names[entry.file]}:${entry.line}`)),
        el('td', {}, prose(entry.message), entry.advice && entry.advice !== advice ? el('div', { class: 'advice' }, prose(entry.advice)) : null)), rows); // prettier-ignore
    return [holder];
  };
  return lazyDetails({ class: 'item' }, summary, body, open);
}

// The items of each topic together, folded when there are many; what was found often comes last.
function checklistGroups(items) {
  const topics = new Map();
  for (const item of items) topics.set(item.t, [...(topics.get(item.t) || []), item]);
  return [...topics].map(([topic, group]) => {
    const shown = [...new Set(group.map((item) => item.v))];
    const summary = [el('span', {}, tr(topic)), el('span', { class: 'mono' }, shown.slice(0, 2).join(', ').slice(0, 90)), el('span', { class: 'right' }, String(group.length))];
    return lazyDetails({ class: 'item' }, summary, () => [checklistTable(group)], items.length <= 12);
  });
}

function checklistTable(items) {
  const rows = items.map((item) =>
    el('tr', {},
      el('th', { scope: 'row' }, tr(item.t)),
      el('td', { class: 'mono' }, item.v),
      el('td', { class: 'mono' }, item.m || '–'),
      el('td', {}, item.p ? placeLink(item.p[0], item.p[1], `${DATA.names[item.p[0]]}:${item.p[1]}`) : '–'),
      el('td', {}, item.n))); // prettier-ignore
  const heads = ['What', 'Source', 'MindSpore', 'Where', 'Note'].map((head) => el('th', { scope: 'col' }, tr(head)));
  return el('div', { class: 'panel' }, el('table', { class: 'grid' }, el('thead', {}, el('tr', {}, heads)), el('tbody', {}, rows)));
}

// What the mapping rests on: an example that ran in both frameworks (on CPU) and agrees, or documentation.
function proofOf(api) {
  if (api.s !== 'mapped') return '–';
  return api.x ? 'executed' : 'documented';
}

const API_COLUMNS = [
  ['torch', (api) => api.n],
  ['Status', (api) => api.s],
  ['MindSpore', (api) => api.t.join(', ')],
  ['Fidelity', (api) => api.f],
  ['Proof', (api) => proofOf(api)],
  ['Places', (api) => -api.p.length],
];

const PLACES = API_COLUMNS.length - 1;

function apiTable(apis, sorting, resort) {
  const key = API_COLUMNS[sorting.column][1];
  const sorted = [...apis].sort((a, b) => {
    const [x, y] = [key(a), key(b)];
    return (x < y ? -1 : x > y ? 1 : a.n < b.n ? -1 : 1) * (x === y ? 1 : sorting.way);
  });
  const heads = API_COLUMNS.map(([name], column) =>
    el('th', { scope: 'col', class: column === PLACES ? 'number' : null,
               'aria-sort': column === sorting.column ? (sorting.way * (column === PLACES ? -1 : 1) > 0 ? 'ascending' : 'descending') : null },
      el('button', { type: 'button', onclick: () => resort(column) }, tr(name)))); // prettier-ignore
  const body = el('tbody');
  const panel = el('div', { class: 'panel' }, el('table', { class: 'grid' }, el('thead', {}, el('tr', {}, heads)), body));
  const holder = el('div', {}, panel);
  portions(sorted, apiRow, body);
  return holder;
}

function apiRow(api) {
  const button = el('button', { type: 'button', class: 'link', 'aria-expanded': 'false' }, String(api.p.length));
  const row = el('tr', {},
    el('td', { class: 'mono' }, api.n),
    el('td', {}, pill(api.s)),
    el('td', { class: 'mono' }, api.t.join(', ') || '–'),
    el('td', {}, api.f ? (api.f === 'exact' ? tr('exact') : pill(api.f)) : '–'),
    el('td', {}, tr(proofOf(api))),
    el('td', { class: 'number' }, button)); // prettier-ignore
  let places = null;
  button.setAttribute('aria-label', tr('{places} of {name}', { places: plural(api.p.length, 'place'), name: api.n }));
  button.addEventListener('click', () => {
    if (places) places = places.remove();
    else row.after((places = el('tr', {}, el('td', { colspan: API_COLUMNS.length }, api.a ? el('p', {}, prose(api.a)) : null, placeList(api.p)))));
    button.setAttribute('aria-expanded', String(Boolean(places)));
  });
  return row;
}
