"use strict";
// Draws the report from the data in this file. All text goes in as text, never as markup.

const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#8c564b", "#7f7fff"];
const TITLES = { search_time: "search time (s)", cost: "plan cost", plan_length: "plan length", memory: "memory (bytes)", seconds: "seconds in all", mse: "mean squared error", mse_of_batches: "mean of batches of 256", mean_error: "mean error", sigma: "mean spread", nll: "negative log-likelihood", calibration_error: "greatest error of calibration" };
const ACCURACY = ["mse", "mse_of_batches", "mean_error", "sigma", "nll", "calibration_error"];
const NOT_BETTER_IF_LESS = ["mean_error", "sigma"];
const SYMBOLIC = ["ff", "lmcut"];
const DASHES = ["", "6 3", "2 3"];
const PAGE = 200;
const PANELS = 3;
const title = (metric) => TITLES[metric] ?? metric;
const colour = (i) => COLOURS[i % COLOURS.length];
const dash = (i) => DASHES[Math.floor(i / COLOURS.length) % DASHES.length];
const columns = data.searches;
const total = (columns.status ?? []).length;
const SOLVED = data.statuses.indexOf("solved");
const ERROR = data.statuses.indexOf("error");
const COMPARED = data.statuses.indexOf("compared");
const shown = { contestants: new Set(data.contestants.keys()), domains: new Set(data.domains.keys()), rows: PAGE };
const searchAt = (i) => Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, values[i]]));
const domainOf = (instance) => data.instances[instance][1];
const visible = (i) => shown.contestants.has(columns.contestant[i]) && shown.domains.has(domainOf(columns.instance[i]));
const who = (row) => row.name ?? data.contestants[row.contestant];
// Others were only trained, or compared with true distances: they have no part in what is about searches.
const planning = [...new Set(columns.contestant)].sort((a, b) => a - b);
const active = () => planning.filter((c) => shown.contestants.has(c));
const chosen = (job) => shown.contestants.has(job.contestant) && shown.domains.has(domainOf(job.instance));

// --- elements ---

function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in made) made[name] = value; else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

function draw(tag, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function number(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString("en");
  if (size >= 10 || Number.isInteger(value)) return String(Math.round(value * 10) / 10);
  return size === 0 ? "0" : value.toPrecision(3);
}

const probability = (value) => (value < 0.001 ? "< 0.001" : value.toFixed(3));

// A table: `head` of {name, text}; a row is {cells: [{value, text, best}], open, total}. A head sorts by value.
function table(place, head, rows) {
  const body = element("tbody");
  const heads = head.map((column, i) => element("th", { scope: "col", className: column.text ? "text" : "", tabIndex: 0 }, column.name));
  let by = -1, up = true;
  const fill = () => {
    const movable = rows.filter((row) => !row.total);
    if (by >= 0) {
      movable.sort((a, b) => {
        const [x, y] = [a.cells[by].value, b.cells[by].value];
        if (x === y) return 0;
        if (x === null || x === undefined) return 1;
        if (y === null || y === undefined) return -1;
        return (x < y ? -1 : 1) * (up ? 1 : -1);
      });
    }
    body.replaceChildren(...[...movable, ...rows.filter((row) => row.total)].map((row) => {
      const line = element("tr", { className: (row.total ? "total " : "") + (row.open ? "link" : "") },
        ...row.cells.map((cell, i) => element("td", { className: (head[i].text ? "text " : "") + (cell.best ? "best" : "") }, cell.text ?? number(cell.value))));
      if (row.open) line.addEventListener("click", row.open);
      return line;
    }));
    heads.forEach((cell, i) => (i === by ? cell.setAttribute("aria-sort", up ? "ascending" : "descending") : cell.removeAttribute("aria-sort")));
  };
  heads.forEach((cell, i) => {
    const sort = () => { up = by === i ? !up : !!head[i].text; by = i; fill(); };
    cell.addEventListener("click", sort);
    cell.addEventListener("keydown", (event) => { if (event.key === "Enter") sort(); });
  });
  fill();
  const csv = element("button", { className: "csv", type: "button" }, "CSV");
  csv.addEventListener("click", () => save(`${place.id || place.parentElement?.id || "table"}.csv`, [head.map((column) => column.name), ...[...body.rows].map((line) => [...line.cells].map((cell) => cell.textContent))]));
  place.replaceChildren(element("div", { className: "scroll" }, element("table", {}, element("thead", {}, element("tr", {}, ...heads)), body)), csv);
}

// A table as it is shown, as a file.
function save(name, rows) {
  const quote = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const file = new Blob([rows.map((row) => row.map(quote).join(",") + "\n").join("")], { type: "text/csv" });
  const link = element("a", { href: URL.createObjectURL(file), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// --- figures ---

function ticks(low, high, log) {
  if (log) {
    const [a, b] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
    const step = Math.max(1, Math.ceil((b - a) / 8));
    const found = [];
    for (let e = a; e <= b; e += step) found.push(10 ** e);
    return found.length > 1 ? found : [low, high];
  }
  const raw = (high - low) / 6 || 1;
  const size = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * size).find((s) => s >= raw);
  const found = [];
  for (let v = Math.ceil(low / step) * step; v <= high + step * 1e-9; v += step) found.push(v);
  return found;
}

const short = (v) => (v >= 1e6 || (v < 1e-2 && v > 0) ? v.toExponential(0).replace("+", "") : String(Math.round(v * 1000) / 1000));

// series: {name, colour, dash, kind: points | line | steps, points: [{x, y, tip, open}]}; axes: {label, log, low, high}
function plot(place, series, x, y, options = {}) {
  const drawn = new Set(series.flatMap((one) => one.points.map((point) => `${point.x} ${point.y}`)));
  if (drawn.size < 2) {  // a figure of one point says nothing
    place.replaceChildren(element("p", { className: "note plain" }, drawn.size ? "All points are in one place: there is nothing to draw." : "There is nothing to draw."));
    return;
  }
  const [width, height] = options.size ?? [520, 460];
  const box = { left: 62, right: width - 14, top: 12, bottom: height - 44 };
  const scale = (axis, a, b) => {
    const f = axis.log ? Math.log10 : (v) => v;
    const [low, high] = [f(axis.low), f(axis.high)];
    return (v) => a + ((f(v) - low) / (high - low || 1)) * (b - a);
  };
  const [px, py] = [scale(x, box.left, box.right), scale(y, box.bottom, box.top)];
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${y.label} over ${x.label}` });
  for (const v of ticks(x.low, x.high, x.log)) {
    svg.append(draw("path", { class: "grid", d: `M${px(v)} ${box.top}V${box.bottom}` }), draw("text", { x: px(v), y: box.bottom + 16, "text-anchor": "middle" }, short(v)));
  }
  for (const v of ticks(y.low, y.high, y.log)) {
    svg.append(draw("path", { class: "grid", d: `M${box.left} ${py(v)}H${box.right}` }), draw("text", { x: box.left - 6, y: py(v) + 4, "text-anchor": "end" }, short(v)));
  }
  svg.append(draw("path", { class: "axis", d: `M${box.left} ${box.top}V${box.bottom}H${box.right}` }));
  svg.append(draw("text", { x: (box.left + box.right) / 2, y: height - 6, "text-anchor": "middle" }, x.label));
  svg.append(draw("text", { transform: `translate(13 ${(box.top + box.bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, y.label));
  if (options.diagonal) svg.append(draw("path", { class: "axis", d: `M${box.left} ${box.bottom}L${box.right} ${box.top}` }));
  for (const edge of options.edges ?? []) {
    svg.append(draw("path", { class: "axis", "stroke-dasharray": "4 4", d: `M${px(edge)} ${box.top}V${box.bottom}M${box.left} ${py(edge)}H${box.right}` }));
  }
  const marks = [];
  for (const one of series) {
    let path = "";
    one.points.forEach((point, i) => {
      const [a, b] = [px(point.x), py(point.y)];
      marks.push({ a, b, point, one });
      if (one.kind === "points") path += `M${a.toFixed(1)} ${b.toFixed(1)}h0`;
      else if (i === 0) path += `M${a.toFixed(1)} ${b.toFixed(1)}`;
      else path += one.kind === "steps" ? `H${a.toFixed(1)}V${b.toFixed(1)}` : `L${a.toFixed(1)} ${b.toFixed(1)}`;
    });
    if (one.kind === "steps" && one.points.length) path += `H${box.right}`;
    svg.append(draw("path", { class: "mark", "data-series": one.name, d: path, stroke: one.colour, "stroke-dasharray": one.dash ?? "", "stroke-width": one.kind === "points" ? 6 : 2, "stroke-opacity": one.kind === "points" ? 0.75 : 1 }));
  }
  // The nearest mark speaks: one element a series, however many points it has.
  const nearest = (event) => {
    const area = svg.getBoundingClientRect();
    const [a, b] = [((event.clientX - area.left) * width) / area.width, ((event.clientY - area.top) * height) / area.height];
    let best = null, least = 15 ** 2;
    for (const mark of marks) {
      const far = (mark.a - a) ** 2 + (mark.b - b) ** 2;
      if (far < least) [best, least] = [mark, far];
    }
    return best;
  };
  svg.addEventListener("mousemove", (event) => {
    const mark = nearest(event);
    $("tip").hidden = !mark;
    svg.style.cursor = mark?.point.open ? "pointer" : "";
    if (!mark) return;
    $("tip").textContent = `${mark.one.name}\n${mark.point.tip ?? `${x.label} ${number(mark.point.x)}, ${y.label} ${number(mark.point.y)}`}`;
    $("tip").style.left = `${Math.min(event.clientX + 12, innerWidth - 260)}px`;
    $("tip").style.top = `${event.clientY + 12}px`;
  });
  svg.addEventListener("mouseleave", () => { $("tip").hidden = true; });
  svg.addEventListener("click", (event) => nearest(event)?.point.open?.());
  place.replaceChildren(svg);
  if (options.legend) {
    place.append(element("p", { className: "note" }, ...series.filter((one) => one.legend !== false).flatMap((one) => [one.kind === "points" ? swatch(one.colour) : stroke(one), `${one.name}  `])));
  }
}

const swatch = (fill) => { const made = element("span", { className: "swatch" }); made.style.background = fill; return made; };
const stroke = (one) => {
  const made = draw("svg", { viewBox: "0 0 26 8", width: 26, height: 8, style: "display: inline; width: 26px; margin: 0 .3em" });
  made.append(draw("path", { d: "M1 4H25", stroke: one.colour, "stroke-width": 2, "stroke-dasharray": one.dash ?? "" }));
  return made;
};
const range = (values, log) => {
  const low = values.reduce((a, b) => Math.min(a, b), Infinity), high = values.reduce((a, b) => Math.max(a, b), -Infinity);
  if (low === Infinity) return [log ? 0.1 : 0, 1];
  return low < high ? [low, high] : log ? [low / 2, high * 2] : [low - 0.5, high + 0.5];
};

// --- sections ---

const CHANGE_HEAD = [{ name: "configuration", text: true }, { name: "measure", text: true }, { name: "better" }, { name: "worse" }, { name: "equal" }, { name: "p (sign test)" }];

function showChanges() {
  $("changes-section").hidden = !data.changes.length;
  $("changes").replaceChildren(...data.changes.flatMap((change) => {
    const place = element("div");
    table(place, CHANGE_HEAD, change.contestants.flatMap((one) => one.paired.map((paired) => ({
      cells: [{ value: one.contestant, text: one.contestant }, { value: paired.metric, text: title(paired.metric) }, { value: paired.better }, { value: paired.worse }, { value: paired.equal }, { value: paired.chance, text: probability(paired.chance) }],
    }))));
    const lists = change.contestants.flatMap((one) => ["gained", "lost", "missing"].filter((word) => one[word].length).map((word) =>
      element("details", {}, element("summary", {}, `${one.contestant}: ${word} ${one[word].length}`), element("pre", {}, one[word].join("\n")))));
    return [element("p", {}, `${change.after} against ${change.before}: better means that ${change.after} is.`), place, ...lists];
  }));
}

function showErrors() {
  const found = [];
  for (let i = 0; i < total; i++) if (columns.status[i] === ERROR) found.push(searchAt(i));
  for (const job of [...data.trainings, ...data.comparisons, ...data.samples]) if (job.status === ERROR) found.push(job);
  $("errors-section").hidden = !found.length;
  table($("errors"), [{ name: "configuration", text: true }, { name: "instance", text: true }, { name: "start", text: true }, { name: "seed" }, { name: "error", text: true }],
    found.map((row) => ({
      open: () => detail(row),
      cells: [{ value: who(row), text: who(row) }, { value: data.instances[row.instance][0], text: data.instances[row.instance][0] },
        { value: row.start ?? "", text: row.start ?? "–" }, { value: row.seed }, { value: row.error ?? "", text: row.error ?? "no message" }],
    })));
}

// Per configuration, seed and instance: starts that were searched, and how many of them were solved.
function shares() {
  const found = new Map();
  for (let i = 0; i < total; i++) {
    if (!visible(i)) continue;
    const [contestant, seed, instance] = [columns.contestant[i], columns.seed[i], columns.instance[i]];
    if (!found.has(contestant)) found.set(contestant, new Map());
    const seeds = found.get(contestant);
    if (!seeds.has(seed)) seeds.set(seed, new Map());
    const entry = seeds.get(seed).get(instance) ?? { solved: 0, runs: 0 };
    entry.runs += 1;
    entry.solved += columns.solved[i];
    seeds.get(seed).set(instance, entry);
  }
  return found;
}

// By instance the number of starts that anybody has searched.
function startsWanted() {
  const starts = new Map();
  for (let i = 0; i < total; i++) {
    const instance = columns.instance[i];
    if (!starts.has(instance)) starts.set(instance, new Set());
    starts.get(instance).add(columns.start[i]);
  }
  return new Map([...starts].map(([instance, known]) => [instance, known.size]));
}

const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;

// A seed counts only if it has all starts, since those that are there first are the quick ones.
function coverageCell(seeds, groups, wanted) {
  const sum = (values) => values.reduce((a, b) => a + b, 0);
  const all = sum(groups.flat().map((instance) => wanted.get(instance)));
  const figures = [];
  let begun = 0, most = 0;
  for (const instances of seeds?.values() ?? []) {
    const there = sum(groups.flat().map((instance) => instances.get(instance)?.runs ?? 0));
    if (!there) continue;
    begun += 1;
    if (there < all) { most = Math.max(most, there); continue; }
    const share = (instance) => (100 * instances.get(instance).solved) / instances.get(instance).runs;
    figures.push(mean(groups.map((group) => mean(group.map(share)))));
  }
  if (!figures.length) return begun ? { value: null, text: `${most} of ${all}` } : { value: null };
  const cell = meanCell(figures);
  if (figures.length === begun) return cell;
  return { ...cell, text: `${cell.text ?? number(cell.value)} (${figures.length} of ${begun} seeds)` };
}

// The mean over seeds, and the standard deviation if there are several.
function meanCell(figures) {
  if (!figures.length) return { value: null };
  const middle = mean(figures);
  if (figures.length === 1) return { value: middle };
  const spread = Math.sqrt(figures.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (figures.length - 1));
  const told = spread < 1e-6 * Math.abs(middle) ? 0 : spread;  // less is rounding
  return { value: middle, text: `${number(middle)} ± ${number(told)}` };
}

function showCoverage() {
  const found = shares(), names = active(), wanted = startsWanted();
  const groups = new Map();
  for (const [instance, [, domain]] of data.instances.entries()) {
    if (!shown.domains.has(domain)) continue;
    if (![...found.values()].some((seeds) => [...seeds.values()].some((known) => known.has(instance)))) continue;
    groups.set(domain, [...(groups.get(domain) ?? []), instance]);
  }
  const line = (name, parts, last) => {
    const cells = names.map((c) => coverageCell(found.get(c), parts, wanted));
    const best = Math.max(...cells.map((cell) => cell.value ?? -1));
    const equal = cells.every((cell) => cell.value === best);
    return { total: last, cells: [{ value: name, text: name }, ...cells.map((cell) => ({ ...cell, best: !equal && cell.value === best }))] };
  };
  const rows = [];
  for (const [domain, instances] of groups) {
    if ($("by-instance").checked) for (const instance of instances) rows.push(line(data.instances[instance][0], [[instance]]));
    else rows.push(line(`${data.domains[domain]} (${instances.length})`, [instances]));
  }
  if (groups.size > 1) rows.push(line("mean over domains", [...groups.values()], true));
  table($("coverage"), [{ name: $("by-instance").checked ? "instance" : "domain (instances)", text: true }, ...names.map((c) => ({ name: data.contestants[c] }))], rows);
}

// IPC scores of a start: the best known cost by the cost; 1 up to a second, and less with the logarithm of the time.
const agile = (seconds) => (seconds <= 1 ? 1 : Math.max(0, 1 - Math.log(seconds) / Math.log(Math.max(data.time_limit, 2))));

function showSummary() {
  const names = active(), found = shares(), wanted = startsWanted(), starts = new Map();
  for (let i = 0; i < total; i++) {
    if (!visible(i)) continue;
    const key = `${columns.instance[i]} ${columns.start[i]}`;
    if (!starts.has(key)) starts.set(key, new Map());
    const own = starts.get(key);
    own.set(columns.contestant[i], [...(own.get(columns.contestant[i]) ?? []), i]);
  }
  const solved = (i) => columns.solved[i] === 1;
  const common = [...starts.values()].filter((own) => names.every((c) => own.get(c)?.every(solved)));
  const groups = new Map();
  for (const key of starts.keys()) {
    const instance = Number(key.split(" ")[0]), domain = domainOf(instance);
    groups.set(domain, (groups.get(domain) ?? new Set()).add(instance));
  }
  const parts = [...groups.values()].map((instances) => [...instances]);
  const known = (rows, metric) => rows.map((i) => columns[metric][i]).filter((v) => v !== null);
  const geometric = (values, least) => (values.length ? Math.exp(mean(values.map((v) => Math.log(Math.max(v, least))))) : null);
  const lines = names.map((c) => {
    const rows = common.flatMap((own) => own.get(c)), costs = known(rows, "cost");
    let quality = 0, quick = 0;
    for (const own of starts.values()) {
      const best = Math.min(...[...own.values()].flat().filter(solved).map((i) => columns.cost[i] ?? Infinity));
      const runs = own.get(c) ?? [];
      if (!runs.length) continue;
      quality += mean(runs.map((i) => (solved(i) && columns.cost[i] !== null ? (columns.cost[i] ? best / columns.cost[i] : 1) : 0)));
      quick += mean(runs.map((i) => (solved(i) && columns.search_time[i] !== null ? agile(columns.search_time[i]) : 0)));
    }
    const taught = data.trainings.filter((t) => data.contestants[t.contestant] === data.taught[data.contestants[c]] && shown.domains.has(domainOf(t.instance)) && t.seconds !== null).map((t) => t.seconds);
    return [coverageCell(found.get(c), parts, wanted), { value: geometric(known(rows, "expansions"), 1) }, { value: geometric(known(rows, "search_time"), 1e-3) },
      { value: costs.length ? mean(costs) : null }, { value: quality }, { value: quick }, { value: taught.length ? mean(taught) : null }];
  });
  const MORE = [true, false, false, false, true, true];  // whether more is better; of trainings neither
  const best = MORE.map((more, k) => {
    const values = lines.map((cells) => cells[k].value).filter((v) => v !== null);
    return values.length > 1 && new Set(values).size > 1 ? (more ? Math.max : Math.min)(...values) : null;
  });
  table($("summary"), [{ name: "configuration", text: true }, ...["coverage (%)", "expansions", "search time (s)", "plan cost", "IPC quality", "IPC agile", "training (s)"].map((name) => ({ name }))],
    lines.map((cells, n) => ({ cells: [{ value: data.contestants[names[n]], text: data.contestants[names[n]] }, ...cells.map((cell, k) => ({ ...cell, best: best[k] !== null && best[k] !== undefined && cell.value === best[k] }))] })));
  $("summary-note").textContent = `Expansions and time are geometric means, and cost is the mean, over the ${common.length} starts that all solved with all seeds. Scores are sums over ${starts.size} starts: quality is the best cost found here by the cost; agile is 1 up to a second and falls to 0 at ${number(data.time_limit)} s. Training is the mean over trainings.`;
}

function showEps() {
  const found = data.eps.filter((p) => shown.contestants.has(data.contestants.indexOf(p.contestant)));
  const count = (p) => found.filter((q) => q.place === p.place && q.name === p.name).length;
  const curves = found.filter((p) => count(p) > 1), places = [...new Set(curves.map((p) => p.place))];
  $("eps-section").hidden = !places.length;
  if (!places.length) return;
  const before = $("eps-place").value;
  options($("eps-place"), places.map((place) => [place, place]), places.includes(before) ? before : undefined);
  const here = curves.filter((p) => p.place === $("eps-place").value), names = [...new Set(data.eps.map((p) => p.name))];
  for (const [id, measure, label] of [["eps-expanded", "expanded", "expansions, mean"], ["eps-cost", "suboptimality", "cost above the optimum (%), mean"]]) {
    const series = names.filter((name) => here.some((p) => p.name === name)).map((name) => ({
      name, colour: colour(names.indexOf(name)), dash: dash(names.indexOf(name)), kind: "line",
      points: here.filter((p) => p.name === name).sort((a, b) => a.eps - b.eps).map((p) => ({ x: p.eps, y: p[measure] })),
    }));
    const all = series.flatMap((one) => one.points), [low, high] = range(all.map((p) => p.x), false), [, most] = range(all.map((p) => p.y), false);
    plot($(id), series, { label: "eps", low, high }, { label, low: 0, high: most * 1.05 }, { legend: true });
  }
}

function showScatter() {
  const metric = $("metric").value, [one, two] = [Number($("one").value), Number($("two").value)];
  const pairs = new Map();
  for (let i = 0; i < total; i++) {
    const c = columns.contestant[i];
    if ((c !== one && c !== two) || !shown.domains.has(domainOf(columns.instance[i]))) continue;
    const key = `${columns.instance[i]} ${columns.start[i]}`;
    const pair = pairs.get(key) ?? [[], []];
    if (c === one) pair[0].push(i);
    if (c === two) pair[1].push(i);
    pairs.set(key, pair);
  }
  // Seeds are matched; a configuration without trainings has one seed, which meets all of the other's.
  const met = [];
  for (const [first, second] of pairs.values()) {
    for (const i of first) {
      const same = second.filter((j) => columns.seed[j] === columns.seed[i]);
      for (const j of same.length || second.length > 1 ? same : second) met.push([i, j]);
    }
    if (first.length === 1 && second.length > 1) for (const j of second) if (columns.seed[j] !== columns.seed[first[0]]) met.push([first[0], j]);
  }
  const value = (i) => (columns.status[i] === SOLVED && columns[metric][i] !== null ? columns[metric][i] : null);
  const values = met.flat().map(value).filter((v) => v !== null);
  const least = metric === "search_time" || metric === "seconds" ? 1e-3 : 1;
  let [low, high] = range(values.map((v) => Math.max(v, least)), true);
  low = 10 ** Math.floor(Math.log10(low) + 1e-9);
  high = 10 ** Math.ceil(Math.log10(high) - 1e-9);
  const edge = high * 3;
  const at = (i) => { const v = value(i); return v === null ? edge : Math.max(v, least); };
  const series = new Map();
  for (const [i, j] of met) {
    if (value(i) === null && value(j) === null) continue;
    const domain = domainOf(columns.instance[i]);
    if (!series.has(domain)) series.set(domain, { name: data.domains[domain], colour: colour(domain), kind: "points", points: [] });
    const text = (k) => (value(k) === null ? data.statuses[columns.status[k]].replace("_", " ") : number(value(k)));
    series.get(domain).points.push({ x: at(i), y: at(j), open: () => detail(searchAt(j)), tip: `${data.instances[columns.instance[i]][0]} ${columns.start[i]}\n${text(i)} against ${text(j)}` });
  }
  const axis = (c) => ({ label: `${data.contestants[c]}: ${title(metric)}`, log: true, low, high: edge * 1.4 });
  plot($("scatter"), [...series.values()], axis(one), axis(two), { diagonal: true, edges: [edge], legend: true });
  const [a, b] = [data.contestants[one], data.contestants[two]];
  const known = data.pairs.find((pair) => (pair.one === a && pair.two === b) || (pair.one === b && pair.two === a));
  if (!known) { $("pair").replaceChildren(); return; }
  const swapped = known.one !== b;  // figures are told from the side of the second one
  const place = element("div");
  table(place, [{ name: "over all domains", text: true }, { name: "better" }, { name: "worse" }, { name: "equal" }, { name: "p (sign test)" }],
    known.paired.map((paired) => ({ cells: [{ value: paired.metric, text: title(paired.metric) }, { value: swapped ? paired.worse : paired.better }, { value: swapped ? paired.better : paired.worse }, { value: paired.equal }, { value: paired.chance, text: probability(paired.chance) }] })));
  $("pair").replaceChildren(element("p", { className: "note" }, `${b} compared with ${a}; starts, seeds taken together`), place);
}

function showCactus() {
  const metric = $("within").value;
  const least = metric === "search_time" || metric === "seconds" ? 1e-3 : 1;
  const series = active().map((c) => {
    const seeds = new Set(), values = [];
    for (let i = 0; i < total; i++) {
      if (columns.contestant[i] !== c || !visible(i)) continue;
      seeds.add(columns.seed[i]);
      if (columns.status[i] === SOLVED && columns[metric][i] !== null) values.push(Math.max(columns[metric][i], least));
    }
    values.sort((a, b) => a - b);
    return { name: data.contestants[c], colour: colour(c), dash: dash(c), kind: "steps", points: values.map((v, i) => ({ x: v, y: (i + 1) / seeds.size })) };
  });
  const [low, high] = range(series.flatMap((one) => one.points.map((p) => p.x)), true);
  const most = Math.max(1, ...series.map((one) => one.points.at(-1)?.y ?? 0));
  plot($("cactus"), series, { label: title(metric), log: true, low, high: high * 1.2 }, { label: "solved (mean over seeds)", low: 0, high: most * 1.04 }, { size: [960, 420], legend: true });
}

function showTrainings() {
  const found = data.trainings.filter(chosen);
  const instance = Number($("training-instance").value), byTime = $("training-x").value === "time";
  const series = [], drawn = found.filter((t) => t.instance === instance && t.curve);
  const log = drawn.every((t) => t.curve.every(([, ...losses]) => Math.min(...losses) >= 0));  // a likelihood may be above 1
  for (const t of drawn) {
    const name = `${data.contestants[t.contestant]}, seed ${t.seed}`;
    const at = (point, i) => (byTime ? point[0] : i + 1);
    const points = (k) => t.curve.map((point, i) => ({ x: at(point, i), y: log ? Math.max(point[k], 1e-9) : point[k] }));
    series.push({ name, colour: colour(t.contestant), dash: DASHES[t.seed % 3], kind: "line", points: points(2) });
    series.push({ name: `${name}, training states`, colour: colour(t.contestant), kind: "points", legend: false, points: points(1) });
  }
  const all = series.flatMap((one) => one.points);
  const [low, high] = range(all.map((p) => p.x), false), [least, most] = range(all.map((p) => p.y), log);
  const losses = { label: "loss", log, ...(log ? { low: least * 0.9, high: most * 1.1 } : { low: least, high: most }) };
  plot($("training"), series, { label: byTime ? "seconds" : "epoch", low, high }, losses, { size: [960, 360], legend: true });
  table($("trainings"), [{ name: "configuration", text: true }, { name: "instance", text: true }, ...["seed", "atoms", "states", "epochs", "loss", "seconds"].map((name) => ({ name })), { name: "status", text: true }],
    found.map((t) => ({ open: () => detail(t), cells: [{ value: data.contestants[t.contestant], text: data.contestants[t.contestant] }, { value: data.instances[t.instance][0], text: data.instances[t.instance][0] },
      { value: t.seed }, { value: t.atoms }, { value: t.states }, { value: t.epochs }, { value: t.best_loss }, { value: t.seconds }, { value: data.statuses[t.status], text: data.statuses[t.status] }] })));
}

function showAccuracy() {
  const measure = $("accuracy-measure").value, symbolic = measure === "mse" ? SYMBOLIC : [];
  const told = (row) => row[measure] !== null;
  const found = data.comparisons.filter((row) => row.status === COMPARED && chosen(row) && told(row));
  const names = [...new Set(found.map((row) => row.contestant))].sort((a, b) => a - b);
  const rows = [...new Set(found.map((row) => row.instance))].map((instance) => {
    const here = found.filter((row) => row.instance === instance), place = data.instances[instance][0];
    const cells = [...symbolic.map((name) => ({ value: here[0][`mse_${name}`] })), ...names.map((c) => meanCell(here.filter((row) => row.contestant === c).map((row) => row[measure])))];
    const best = NOT_BETTER_IF_LESS.includes(measure) ? NaN : Math.min(...cells.map((cell) => cell.value ?? Infinity));
    const equal = cells.every((cell) => cell.value === best);
    return { cells: [{ value: place, text: place }, { value: here[0].states }, ...cells.map((cell) => ({ ...cell, best: !equal && cell.value === best }))] };
  });
  table($("accuracy"), [{ name: "domain/data", text: true }, { name: "states" }, ...symbolic.map((name) => ({ name })), ...names.map((c) => ({ name: data.contestants[c] }))], rows);
  const text = (value) => ({ value, text: value });
  table($("comparisons"), [{ name: "configuration", text: true }, { name: "domain/data", text: true }, { name: "seed" }, ...ACCURACY.map((name) => ({ name: title(name) })), { name: "seconds" }, { name: "status", text: true }],
    data.comparisons.filter(chosen).map((row) => ({ open: () => detail(row), cells: [text(data.contestants[row.contestant]), text(data.instances[row.instance][0]), { value: row.seed },
      ...ACCURACY.map((name) => ({ value: row[name] })), { value: row.seconds }, text(data.statuses[row.status])] })));
}

function showCalibration() {
  const instance = Number($("calibration-instance").value);
  const found = data.comparisons.filter((row) => row.instance === instance && row.calibration && chosen(row));
  const series = [...new Set(found.map((row) => row.contestant))].sort((a, b) => a - b).map((c, i) => {
    const shares = new Map();
    for (const row of found) if (row.contestant === c) for (const [level, share] of row.calibration) shares.set(level, [...(shares.get(level) ?? []), share]);
    const points = [...shares].sort(([a], [b]) => a - b).map(([level, values]) => ({ x: level, y: mean(values), tip: `level ${level}: ${number(mean(values))} of the labels${values.length > 1 ? `, mean over ${values.length} seeds` : ""}` }));
    // Rules differ in what the search sees, not in the belief: lines may cover each other.
    return { name: data.contestants[c], colour: colour(c), dash: DASHES[i % DASHES.length], kind: "line", points };
  });
  plot($("calibration"), series, { label: "level of the quantile", low: 0, high: 1 }, { label: "share of labels up to it", low: 0, high: 1 }, { diagonal: true, legend: true });
}

function showSamples() {
  const names = [...new Set(data.samples.map((s) => s.name))];
  const found = data.samples.filter((s) => shown.domains.has(domainOf(s.instance)));
  const instance = Number($("labels-instance").value);
  const series = found.filter((s) => s.instance === instance && s.error_by_h?.length).map((s) => ({
    name: `${s.name}, seed ${s.seed}`, colour: colour(names.indexOf(s.name)), dash: DASHES[s.seed % 3], kind: "line",
    points: s.error_by_h.map(([h, error, states]) => ({ x: h, y: error, tip: `h* ${h}: mean error ${number(error)}, ${states} states` })),
  }));
  $("label-errors").hidden = !series.length;
  if (series.length) {
    const all = series.flatMap((one) => one.points);
    const [low, high] = range(all.map((p) => p.x), false), [least, most] = range([0, ...all.map((p) => p.y)], false);
    plot($("label-errors"), series, { label: "h*", low, high }, { label: "label − h*", low: least, high: most * 1.05 }, { size: [960, 360], legend: true });
  }
  table($("samples"), [{ name: "data", text: true }, { name: "instance", text: true }, ...["seed", "atoms", "distinct states", "seconds", "mean error", "exact labels (%)"].map((name) => ({ name })), { name: "status", text: true }],
    found.map((s) => ({ open: () => detail(s), cells: [{ value: s.name, text: s.name }, { value: data.instances[s.instance][0], text: data.instances[s.instance][0] },
      { value: s.seed }, { value: s.atoms }, { value: s.distinct }, { value: s.sampling_time }, { value: s.label_error }, { value: s.exact_labels === null ? null : 100 * s.exact_labels }, { value: data.statuses[s.status], text: data.statuses[s.status] }] })));
}

function showRuns() {
  const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean), status = $("status").value;
  const found = [];
  for (let i = 0; i < total; i++) {
    if (!visible(i) || (status !== "" && columns.status[i] !== Number(status))) continue;
    const text = `${data.contestants[columns.contestant[i]]} ${data.instances[columns.instance[i]][0]} ${columns.start[i]} ${data.statuses[columns.status[i]]}`.toLowerCase();
    if (words.every((word) => text.includes(word))) found.push(i);
  }
  $("count").textContent = `${found.length.toLocaleString("en")} searches`;
  $("more").hidden = found.length <= shown.rows;
  table($("runs"), [{ name: "configuration", text: true }, { name: "instance", text: true }, { name: "start", text: true }, { name: "seed" }, { name: "status", text: true }, ...data.numbers.map((name) => ({ name: title(name) }))],
    found.slice(0, shown.rows).map((i) => ({
      open: () => detail(searchAt(i)),
      cells: [{ value: data.contestants[columns.contestant[i]], text: data.contestants[columns.contestant[i]] }, { value: data.instances[columns.instance[i]][0], text: data.instances[columns.instance[i]][0] },
        { value: columns.start[i], text: columns.start[i] }, { value: columns.seed[i] }, { value: data.statuses[columns.status[i]], text: data.statuses[columns.status[i]].replace("_", " ") },
        ...data.numbers.map((name) => ({ value: columns[name][i] }))],
    })));
}

function detail(row) {
  const run = data.runs[row.run];
  const path = (file) => `artefacts/${data.digests[file].slice(0, 2)}/${data.digests[file].slice(2)}`;
  const quote = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  const copies = data.inputs[row.files].map(([name, file]) => `cp ${quote(`${run.folder}/${path(file)}`)} ${name}`);
  const facts = [["run", run.name], ["status", data.statuses[row.status]], ["seed", row.seed], ...[...data.numbers, "epochs", "best_loss", "distinct", "label_error", ...ACCURACY].filter((name) => row[name] !== null && row[name] !== undefined).map((name) => [title(name), number(row[name])])];
  $("detail-body").replaceChildren(
    element("h2", {}, `${who(row)} on ${data.instances[row.instance][0]} ${row.start ?? ""}`.trim()),
    ...(row.error ? [element("p", { className: "error" }, row.error)] : []),
    element("p", {}, facts.map(([name, value]) => `${name}: ${value}`).join(" · ")),
    element("h3", {}, "To repeat it"), element("pre", { id: "repeat" }, [...copies, data.commands[row.command]].join("\n")),
    element("h3", {}, "Log"), element("p", { className: "note" }, `${run.folder}/${path(row.log)}`),
    element("pre", { id: "log" }, row.text ?? "Not in this page, which would grow too large: see the file."));
  $("detail").showModal();
}

// --- controls ---

function checkboxes(place, names, kept, swatches) {
  place.replaceChildren(...names.map((name, i) => {
    const box = element("input", { type: "checkbox", checked: true });
    box.addEventListener("change", () => { if (box.checked) kept.add(i); else kept.delete(i); show(); });
    return element("label", {}, box, ...(swatches ? [swatch(colour(i))] : [" "]), name);
  }));
}

function options(select, entries, preset) {
  select.replaceChildren(...entries.map(([value, text]) => element("option", { value: String(value), selected: value === preset }, text)));
}

function showReady(id, [head, ...rows]) {
  if (!rows.length) return;
  const plain = (text) => (Number.isNaN(parseFloat(text)) ? null : parseFloat(text.replaceAll(",", "")));
  table($(id), head.map((name, i) => ({ name, text: i < 2 })), rows.map((row) => ({ cells: row.map((text, i) => ({ text, value: i < 2 ? text : plain(text) })) })));
}

function showCosts() {
  const [head, ...rows] = data.costs;
  const domain = (place) => (data.domains.includes(place) ? data.domains.indexOf(place) : data.instances.find(([name]) => name === place)[1]);
  const found = rows.filter(([place, name]) => shown.domains.has(domain(place)) && shown.contestants.has(data.contestants.indexOf(name)));
  $("costs-section").hidden = !found.length;
  showReady("costs", [head, ...found]);
}

// Of the searches on a map those that are ticked; at first a few, spread over the configurations.
const ticked = new Set();
let drawSteps = () => {};
function showSteps() {
  const maps = data.steps.filter((map) => shown.domains.has(data.domains.indexOf(map.domain)));
  const place = $("steps-map"), before = place.value;
  options(place, maps.map((map) => [map.instance, map.instance]), maps.some((map) => map.instance === before) ? before : undefined);
  const map = maps.find((one) => one.instance === place.value);
  const found = map?.panels.filter((panel) => shown.contestants.has(data.contestants.indexOf(panel.contestant))) ?? [];
  $("steps-section").hidden = !found.length;
  if (!found.length) return;
  if (!ticked.size) {
    const few = Math.min(PANELS, found.length);
    for (let i = 0; i < few; i++) ticked.add(found[Math.round((i * (found.length - 1)) / Math.max(few - 1, 1))].contestant);
  }
  $("steps-contestants").replaceChildren(...found.map((panel) => {
    const box = element("input", { type: "checkbox", checked: ticked.has(panel.contestant) });
    box.addEventListener("change", () => { if (box.checked) ticked.add(panel.contestant); else ticked.delete(panel.contestant); drawPanels(map, found); });
    return element("label", {}, box, ` ${panel.contestant}`);
  }));
  drawPanels(map, found);
}

function drawPanels(map, found) {
  const panels = found.filter((panel) => ticked.has(panel.contestant)).map((panel) => ({ ...panel, values: panel.values === null ? null : map.values[panel.values] }));
  drawSteps = stepByStep($("steps"), { ...map, panels });
}

function show() {
  showCosts();
  showSteps();
  if (total) {
    showSummary();
    showCoverage();
    showScatter();
    showCactus();
    showEps();
    showRuns();
  }
  if (data.comparisons.length) {
    showAccuracy();
    showCalibration();
  }
  if (data.trainings.length) showTrainings();
  if (data.samples.length) showSamples();
}

function start() {
  document.title = `${data.title} · hstar`;
  $("title").textContent = data.title;
  for (const id of ["description", "outcome"]) {
    $(id).textContent = data[id];
    $(id).hidden = !data[id];
  }
  $("about").textContent = data.runs.map((run) => {
    const machines = run.machines.map((m) => `hstar ${m.hstar}${m.commit ? ` (${m.commit})` : ""} on ${m.host}, ${m.cores} cores ${m.processor ?? ""}, Python ${m.python}`);
    return `${run.name}: ${run.finished} jobs finished${run.missing ? `, ${run.missing} not run yet` : ""}, ${number(run.seconds / 3600)} hours of runs; ${machines.join("; ")}`;
  }).join("\n") + `\nmade ${data.made}`;
  checkboxes($("by-contestant"), data.contestants, shown.contestants, true);
  checkboxes($("by-domain"), data.domains, shown.domains, false);
  const metrics = data.numbers.map((name) => [name, title(name)]), names = planning.map((c) => [c, data.contestants[c]]);
  options($("metric"), metrics, "expansions");
  options($("within"), metrics, "search_time");
  // At first the best learned configuration against the best without learning.
  const [learned, baseline] = data.best.length > 1 ? data.best.map((name) => data.contestants.indexOf(name)) : [planning[0], planning[Math.min(1, planning.length - 1)]];
  options($("one"), names, baseline);
  options($("two"), names, learned);
  options($("status"), [["", "any"], ...data.statuses.map((name, i) => [i, name.replace("_", " ")])], "");
  $("accuracy-section").hidden = !data.comparisons.length;
  options($("accuracy-measure"), ACCURACY.filter((name) => data.comparisons.some((row) => row[name] !== null)).map((name) => [name, title(name)]));
  $("accuracy-measure").addEventListener("change", showAccuracy);
  const calibrated = [...new Set(data.comparisons.filter((row) => row.calibration).map((row) => row.instance))];
  $("calibrated").hidden = !calibrated.length;
  options($("calibration-instance"), calibrated.map((i) => [i, data.instances[i][0]]));
  $("calibration-instance").addEventListener("change", showCalibration);
  const trained = [...new Set(data.trainings.map((t) => t.instance))];
  $("training-section").hidden = !trained.length;
  options($("training-instance"), trained.map((i) => [i, data.instances[i][0]]));
  const sampled = [...new Set(data.samples.map((s) => s.instance))];
  $("labels-section").hidden = !sampled.length && data.labelled.length === 1;
  $("sampled").hidden = !sampled.length;
  for (const section of document.querySelectorAll(".of-searches")) section.hidden = !total;
  options($("labels-instance"), sampled.map((i) => [i, data.instances[i][0]]));
  $("labels-instance").addEventListener("change", showSamples);
  for (const id of ["metric", "one", "two"]) $(id).addEventListener("change", showScatter);
  for (const id of ["training-instance", "training-x"]) $(id).addEventListener("change", showTrainings);
  $("within").addEventListener("change", showCactus);
  $("steps-map").addEventListener("change", showSteps);
  $("eps-place").addEventListener("change", showEps);
  $("by-instance").addEventListener("change", showCoverage);
  for (const id of ["search", "status"]) $(id).addEventListener("input", () => { shown.rows = PAGE; showRuns(); });
  $("more").addEventListener("click", () => { shown.rows += 5 * PAGE; showRuns(); });
  $("theme").addEventListener("click", () => {
    const root = document.documentElement, dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    drawSteps();
  });
  showErrors();
  showChanges();
  showReady("labelled", data.labelled);
  show();
}

start();
