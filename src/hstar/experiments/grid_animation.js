// Searches on one map, beside each other, under one slider. `data` is what grid_animation.steps gives; all text goes in as text.
// Returns a function that draws again, for a change of colours.
function stepByStep(place, data) {
  const [rows, columns] = data.shape;
  const side = Math.max(1, Math.min(16, Math.floor(1200 / Math.max(rows, columns))));
  const last = Math.max(0, ...data.panels.map((panel) => panel.explored.length));
  const made = (tag, properties = {}, ...children) => {
    const one = Object.assign(document.createElement(tag), properties);
    one.append(...children);
    return one;
  };
  const play = made("button", { type: "button", className: "play" }, "play");
  const slider = made("input", { type: "range", className: "time", min: 0, max: last, step: 1, ariaLabel: "expansions" });
  const told = made("output", { className: "count" });
  const withValues = made("input", { type: "checkbox" });
  const choice = made("label", { hidden: data.panels.every((panel) => panel.values === null) }, withValues, " values of the network");
  const panels = made("div", { className: "panels" });
  place.replaceChildren(
    made("p", { className: "controls" }, play, slider, told, choice), panels,
    made("p", { className: "note" }, "Expanded cells, the latest the darkest; green: the start, blue: the goal. The path appears with the last expansion of a search."));

  const views = data.panels.map((panel) => {
    const canvas = made("canvas", { width: columns * side, height: rows * side, role: "img", ariaLabel: panel.title });
    const caption = made("figcaption");
    panels.append(made("figure", {}, caption, canvas));
    const known = (panel.values ?? []).filter((value, cell) => !data.blocked[cell]);
    const range = known.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
    return { panel, canvas, caption, range };
  });

  function fill(context, cell, colour) {
    context.fillStyle = colour;
    context.fillRect((cell % columns) * side, Math.floor(cell / columns) * side, side, side);
  }

  function draw(count) {
    const style = getComputedStyle(document.documentElement);
    const free = style.getPropertyValue("--free"), wall = style.getPropertyValue("--wall");
    for (const { panel, canvas, caption, range } of views) {
      const context = canvas.getContext("2d"), shown = Math.min(count, panel.explored.length);
      const coloured = withValues.checked && panel.values !== null;
      for (let cell = 0; cell < rows * columns; cell++) {
        const share = coloured ? (panel.values[cell] - range[0]) / Math.max(range[1] - range[0], 1e-9) : 0;
        fill(context, cell, data.blocked[cell] ? wall : coloured ? `hsl(${60 + 200 * share} 55% 62%)` : free);
      }
      for (let i = 0; i < shown; i++) {
        const age = (shown - i) / Math.max(last, 1);
        context.globalAlpha = coloured ? 0.45 : 1;
        fill(context, panel.explored[i], `hsl(205 65% ${Math.min(78, 34 + 60 * age)}%)`);
      }
      context.globalAlpha = 1;
      if (shown === panel.explored.length && panel.path !== null) {
        context.strokeStyle = "#d55e00";
        context.lineWidth = Math.max(1.5, side / 4);
        context.beginPath();
        for (const cell of panel.path) context.lineTo((cell % columns + 0.5) * side, (Math.floor(cell / columns) + 0.5) * side);
        context.stroke();
      }
      fill(context, data.start, "#009e73");
      fill(context, data.goal, "#0072b2");
      caption.textContent = `${panel.title} (${shown} of ${panel.explored.length} shown)`;
    }
    told.textContent = `${count} of ${last}`;
  }

  let running = false, began = 0, from = 0;
  const seconds = Math.min(12, Math.max(3, last / 60));
  function step(now) {
    if (!running || !place.isConnected) return;
    slider.value = Math.min(last, Math.round(from + ((now - began) / 1000 / seconds) * last));
    draw(Number(slider.value));
    if (Number(slider.value) < last) requestAnimationFrame(step);
    else stop();
  }
  function stop() {
    running = false;
    play.textContent = "play";
  }
  play.addEventListener("click", () => {
    if (running) return stop();
    running = true;
    play.textContent = "pause";
    began = performance.now();
    from = Number(slider.value) < last ? Number(slider.value) : 0;
    requestAnimationFrame(step);
  });
  slider.addEventListener("input", () => { stop(); draw(Number(slider.value)); });
  withValues.addEventListener("change", () => draw(Number(slider.value)));
  slider.value = last;
  draw(last);
  return () => draw(Number(slider.value));
}
