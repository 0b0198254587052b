// Planes: what every configuration of a model, or every release, gives against what one user sees, with switches. The
// numbers, the limits and the best points within them are in a script beside the page; here they are chosen and drawn.
"use strict";
(function () {
  var AXES = [
      null,
      { id: "speed", text: "tok/s per user", title: "tok/s per user, right is better", right: true },
      { id: "ttft", text: "TTFT", title: "TTFT, ms, left is better" },
      { id: "e2el", text: "E2EL", title: "E2EL, ms, left is better" },
      { id: "ttft_p90", text: "TTFT P90", title: "TTFT P90, ms, left is better" }
    ],
    SHARING = { tp: "Tensor parallel", dp: "Data parallel", ep: "Expert parallel", pp: "Pipeline parallel" },
    LOOKS = 8, // colours, each with its mark
    digits = ttreport.digits,
    el = ttreport.el,
    draw = ttreport.ink;

  // round writes a value that is round by choice: a tick, a limit.
  function round(v) {
    return (+v.toPrecision(6)).toLocaleString("en-US", { maximumFractionDigits: 6 });
  }

  // mark draws the sign of a device: each has its own shape.
  function mark(to, shape, x, y, size) {
    var s = size || 4;
    if (shape === 0) draw(to, "circle", { class: "dot", cx: x, cy: y, r: s });
    else if (shape === 1) draw(to, "rect", { class: "dot", x: x - s + 0.4, y: y - s + 0.4, width: 2 * s - 0.8, height: 2 * s - 0.8 });
    else if (shape === 2) draw(to, "path", { class: "dot", d: "M" + (x - s) + " " + (y + s) + "h" + 2 * s + "l" + -s + " " + -2 * s + "z" });
    else if (shape === 3) draw(to, "path", { class: "dot", d: "M" + x + " " + (y - s - 1) + "l" + (s + 1) + " " + (s + 1) + "l" + -(s + 1) + " " + (s + 1) + "l" + -(s + 1) + " " + -(s + 1) + "z" });
    else if (shape === 5) draw(to, "path", { class: "wh", d: "M" + (x - s - 1) + " " + y + "h" + (2 * s + 2) + "M" + x + " " + (y - s - 1) + "v" + (2 * s + 2) });
    else if (shape === 6) draw(to, "path", { class: "dot", d: "M" + (x - s) + " " + (y - s) + "h" + 2 * s + "l" + -s + " " + 2 * s + "z" });
    else if (shape === 7) draw(to, "circle", { class: "hol", cx: x, cy: y, r: s });
    else draw(to, "path", { class: "wh", d: "M" + (x - s) + " " + (y - s) + "l" + 2 * s + " " + 2 * s + "M" + (x + s) + " " + (y - s) + "l" + -2 * s + " " + 2 * s });
  }

  function loadText(load) {
    return /s$/.test(load) ? load.slice(0, -2) + " req/s" : "concurrency " + load;
  }

  // scale places values on an axis, with ticks at round values.
  function scale(lo, hi, from, to, log) {
    var ticks = [],
      step,
      at;
    if (log) {
      if (hi <= lo) hi = lo * 2;
      lo /= 1.15;
      hi *= 1.15;
      [[1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 2, 5], [1, 3], [1]].some((list) => {
        ticks = [];
        for (at = Math.pow(10, Math.floor(Math.log10(lo))); at <= hi; at *= 10)
          list.forEach((m) => {
            if (m * at >= lo && m * at <= hi) ticks.push(m * at);
          });
        return ticks.length <= 7;
      });
      return { ticks, at (v) { return from + ((to - from) * Math.log(v / lo)) / Math.log(hi / lo); } };
    }
    step = Math.pow(10, Math.floor(Math.log10((hi - lo) / 4 || 1)));
    [1, 2, 5, 10].some((m) => {
      if ((hi - lo) / (m * step) <= 6) {
        step *= m;
        return true;
      }
      return false;
    });
    lo = Math.floor(lo / step) * step;
    hi = Math.ceil(hi / step) * step || step;
    for (at = lo; at <= hi + step / 2; at += step) ticks.push(Math.abs(at) < step / 1e6 ? 0 : at);
    return { ticks, at (v) { return from + ((to - from) * (v - lo)) / (hi - lo || 1); } };
  }

  // plot draws lines of points; o has width, height, lines, titles, and perhaps a limit, a front and logarithmic axes.
  function plot(o) {
    var w = o.width,
      h = o.height,
      svg = ttreport.svg(w, h, { width: w, height: h, role: "img", "aria-label": o.label }),
      right = w - 24,
      top = 28,
      bottom = h - 40,
      all = [].concat.apply([], o.lines.map((l) => l.points)),
      xs = all.map((p) => p.x).concat(o.limit ? [o.limit.x] : []),
      ys = all.map((p) => p.y),
      y = scale(o.logy ? Math.min.apply(null, ys) : 0, Math.max.apply(null, ys), bottom, top, o.logy),
      left = Math.max.apply(null, y.ticks.map((v) => 12 + 7 * round(v).length).concat(52)), // the widest number fits
      x = scale(o.logx ? Math.min.apply(null, xs) : 0, Math.max.apply(null, xs), left, right, o.logx),
      boxes = [],
      along = [],
      end = 0; // of the numbers below the axis
    function free(px, py, text, anchor, apart) {
      var wide = text.length * 6.6 + 2,
        x0 = anchor === "middle" ? px - wide / 2 : anchor === "end" ? px - wide : px,
        box = [x0, py - 10, x0 + wide, py + 2];
      if (x0 < left || box[2] > w || box[1] < 12 || py > bottom) return false;
      if (boxes.some((b) => box[0] < b[2] && box[2] > b[0] && box[1] < b[3] && box[3] > b[1])) return false;
      if (apart && along.some((p) => box[0] - apart < p[0] && p[0] < box[2] + apart && box[1] - 1 < p[1] && p[1] < box[3] + 1)) return false;
      boxes.push(box);
      return true;
    }
    y.ticks.forEach((v) => {
      draw(svg, "path", { class: "grid", d: "M" + left + " " + y.at(v).toFixed(1) + "H" + right });
      draw(svg, "text", { x: left - 6, y: y.at(v) + 4, "text-anchor": "end" }, round(v));
    });
    x.ticks.forEach((v) => {
      draw(svg, "path", { class: "axis", d: "M" + x.at(v).toFixed(1) + " " + bottom + "v3" });
      if (x.at(v) - 3.3 * round(v).length < end) return;
      draw(svg, "text", { x: x.at(v), y: bottom + 15, "text-anchor": "middle" }, round(v));
      end = x.at(v) + 3.3 * round(v).length + 4;
    });
    draw(svg, "path", { class: "axis", d: "M" + left + " " + bottom + "H" + right });
    draw(svg, "text", { x: right, y: h - 6, "text-anchor": "end" }, o.xTitle + (o.logx ? ", log" : ""));
    draw(svg, "text", { x: 0, y: 11 }, o.yTitle + (o.logy ? ", log" : ""));
    if (o.limit) {
      var at = x.at(o.limit.x);
      draw(svg, "rect", { class: "fit", x: o.limit.right ? at : left, y: top, width: Math.max(0, o.limit.right ? right - at : at - left), height: bottom - top });
    }
    if (o.front && o.front.length > 1) draw(svg, "path", { class: "pareto", d: "M" + o.front.map((p) => x.at(p.x).toFixed(1) + " " + y.at(p.y).toFixed(1)).join("L") });
    if (o.limit) {
      draw(svg, "path", { class: "tgt", d: "M" + at.toFixed(1) + " " + (top - 8) + "V" + bottom });
      var ends = at > w * 0.6;
      draw(svg, "text", { class: "t-ink halo", x: at + (ends ? -5 : 5), y: top - 2, "text-anchor": ends ? "end" : "start" }, o.limit.text);
      boxes.push([ends ? at - 150 : at, top - 14, ends ? at : at + 150, top + 2]);
    }
    o.lines.forEach((l) => {
      l.points.forEach((p, i) => {
        var q = l.points[i - 1] || p;
        boxes.push([x.at(p.x) - 4, y.at(p.y) - 4, x.at(p.x) + 4, y.at(p.y) + 4]);
        for (var k = 0; k < 1; k += 0.02) along.push([x.at(q.x) + k * (x.at(p.x) - x.at(q.x)), y.at(q.y) + k * (y.at(p.y) - y.at(q.y))]);
      });
    });
    o.lines.forEach((l) => {
      if (!l.band) return;
      var edge = (k) => l.band.map((b) => x.at(b[0]).toFixed(1) + " " + Math.min(bottom, Math.max(top, y.at(b[k]))).toFixed(1));
      draw(svg, "path", { class: "joint k" + l.colour, d: "M" + edge(1).concat(edge(2).reverse()).join("L") + "z" });
    });
    o.spots = [];
    o.lines.forEach((l) => {
      var g = draw(svg, "g", { class: "k" + l.colour });
      var through = l.path && l.path.length ? l.points.concat(l.path).sort((a, b) => a.x - b.x) : l.points;
      if (l.points.length > 1)
        draw(g, "path", { class: "ln s d" + l.dash, d: "M" + through.map((p) => x.at(p.x).toFixed(1) + " " + y.at(p.y).toFixed(1)).join("L") });
      l.points.forEach((p) => {
        mark(g, l.shape, x.at(p.x), y.at(p.y));
        o.spots.push({ x: x.at(p.x), y: y.at(p.y), text: l.name + ": " + p.text, run: p.run });
      });
      if (l.best) draw(g, "circle", { class: "hol ring", cx: x.at(l.best.x), cy: y.at(l.best.y), r: 7 });
    });
    if (o.lines.length <= 8)
      o.lines.forEach((l) => {
        [4, 1, 0].some((apart) =>  // beside the lines, and across one only where there is no other place
           l.points.concat(l.points.slice().reverse()).some((p) => [["middle", 0, -9], ["start", 8, 4], ["end", -8, 4], ["middle", 0, 18], ["start", 6, -8], ["end", -6, -8], ["start", 6, 16], ["end", -6, 16], ["start", 12, -16], ["end", -12, -16], ["start", 12, 26], ["end", -12, 26]].some((c) => {
              if (!free(x.at(p.x) + c[1], y.at(p.y) + c[2], l.name, c[0], apart)) return false;
              draw(svg, "text", { class: "lbl halo k" + l.colour, x: x.at(p.x) + c[1], y: y.at(p.y) + c[2], "text-anchor": c[0] }, l.name);
              return true;
            }))
        );
      });
    if (o.loads)
      o.lines.forEach((l) => {
        l.points.forEach((p) => {
          [["start", 7, -5], ["end", -7, -5], ["start", 7, 14], ["end", -7, 14]].some((c) => {
            if (!free(x.at(p.x) + c[1], y.at(p.y) + c[2], p.load, c[0], 1)) return false;
            return draw(svg, "text", { class: "halo t-mute", x: x.at(p.x) + c[1], y: y.at(p.y) + c[2], "text-anchor": c[0] }, p.load);
          });
        });
      });
    return svg;
  }

  // readable makes a drawing one stop of the tab key: arrows go from point to point, and so does the pointer.
  function readable(svg, spots, out, root) {
    var at = -1,
      ring;
    function show(i) {
      at = i;
      if (!ring) ring = draw(svg, "circle", { class: "ring", r: 9 });
      ring.setAttribute("cx", spots[i].x);
      ring.setAttribute("cy", spots[i].y);
      out.textContent = spots[i].text;
      if (spots[i].run) out.append(" ", el("a", { href: root + spots[i].run }, "run"));
    }
    if (!spots.length) return;
    svg.setAttribute("tabindex", "0");
    svg.addEventListener("keydown", (e) => {
      var by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
      if (by) {
        show((at + by + spots.length) % spots.length);
        e.preventDefault();
      } else if (e.key === "Enter" && at >= 0 && spots[at].run) location.href = root + spots[at].run;
    });
    svg.addEventListener("pointermove", (e) => {
      var box = svg.getBoundingClientRect(),
        px = e.clientX - box.left,
        py = e.clientY - box.top,
        near = -1,
        far = 400;
      spots.forEach((s, i) => {
        var d = (s.x - px) * (s.x - px) + (s.y - py) * (s.y - py);
        if (d < far) {
          far = d;
          near = i;
        }
      });
      if (near >= 0 && near !== at) show(near);
    });
  }

  // The state of a plane stands in the address under its name: plane-1=y:chip;x:ttft.
  function read(id) {
    var o = {};
    location.hash
      .slice(1)
      .split("&")
      .forEach((part) => {
        if (part.slice(0, id.length + 1) === id + "=")
          try {
            decodeURIComponent(part.slice(id.length + 1))
              .split(";")
              .forEach((x) => {
                var i = x.indexOf(":");
                if (i > 0) o[x.slice(0, i)] = x.slice(i + 1);
              });
          } catch (e) {
            /* a broken address says nothing */
          }
      });
    return o;
  }
  function write(id, state) {
    var own = Object.keys(state)
        .filter((k) => state[k] != null && state[k] !== "")
        .map((k) => k + ":" + state[k])
        .join(";"),
      rest = location.hash
        .slice(1)
        .split("&")
        .filter((p) => p.indexOf("=") > 0 && p.slice(0, id.length + 1) !== id + "=");
    if (own) rest.push(id + "=" + encodeURIComponent(own));
    history.replaceState(history.state, "", rest.length ? "#" + rest.join("&") : location.pathname + location.search);
  }

  function fill(host, data) {
    var id = host.dataset.plane,
      root = host.dataset.root,
      state = read(id),
      devices = [],
      variants = {},
      form = el("form", { class: "filters plane-form" }),
      figure = el("figure"),
      readout = el("output", { class: "more" }),
      best = el("div", { class: "tw whole", tabindex: "0", role: "region", "aria-label": data.model + ": best points" }),
      extra = el("div", { class: "curves" }),
      h1 = document.querySelector("h1"),
      headline = id === "plane-1" && h1.textContent.indexOf(data.model) >= 0 && /tok\/s/.test(h1.textContent) ? [...h1.childNodes] : null;
    data.limits = data.limits || [];
    var axes = AXES.slice(1).filter((a, i) => data.lines.some((l) => l.points.some((p) => p.values[i + 1] != null)));
    var usual = data.limits[data.limit] ? AXES[data.limits[data.limit].axis].id : axes[0].id; // the axis of the sentence above
    if (!axes.some((a) => a.id === state.x)) state.x = usual;
    data.lines.forEach((l) => {
      if (devices.indexOf(l.device) < 0) devices.push(l.device);
      l.colour = (l.look % LOOKS) + 1;
      l.shape = l.look % LOOKS;
      variants[l.device] = variants[l.device] || [];
      if (variants[l.device].indexOf(l.name) < 0) variants[l.device].push(l.name);
      l.dash = (variants[l.device].indexOf(l.name) % 4) + 1;
    });
    if (devices.length === 1) // of one device, colours tell configurations apart
      data.lines.forEach((l) => {
        l.colour = (variants[l.device].indexOf(l.name) % LOOKS) + 1;
        l.shape = l.colour - 1;
      });
    var rates = [{ id: "total", text: "tok/s", title: "output tok/s", of (l, out) { return out; } }];
    if (data.lines.some((l) => l.chips > 1))
      rates.push({ id: "chip", text: "tok/s per chip", title: "output tok/s per chip", of (l, out) { return l.chips ? out / l.chips : NaN; } });
    // What a million tokens cost: io is how many tokens are read for one that is written.
    if (data.lines.some((l) => l.price))
      [["price", "output", function () { return 1; }], ["input", "input", function (io) { return io; }], ["both", "input and output", function (io) { return 1 + io; }]].forEach((r) => {
        var title = (data.currency || "money") + " per 1M " + r[1] + " tokens";
        rates.push({ id: r[0], text: title, title, cost: true, of (l, out) { return l.price ? (l.price * 1e6) / 3600 / (out * r[2](l.io || NaN)) : NaN; } });
      });
    function choose(name, text, list, now) {
      var s = el("select", { name }, list.map((x) => el("option", { value: x[0], selected: String(x[0]) === String(now) }, x[1])));
      s.addEventListener("change", () => {
        state[name] = s.value;
        if (name === "x" && String(state.l || "")[0] !== "c") delete state.l;
        update();
      });
      form.append(el("label", {}, [text, s]));
      return s;
    }
    choose("y", "Show", rates.map((r) => [r.id, r.text]), state.y || "total");
    choose("x", "Against", axes.map((a) => [a.id, a.text]), state.x);
    if (data.workloads.length > 1) choose("w", "ISL/OSL", data.workloads.map((w, i) => [i, w]), state.w || 0);
    var limits = choose("l", "Limit", []);
    var slo = el("input", { type: "range", min: 0, step: 1, name: "slo" });
    slo.addEventListener("input", () => {
      state.l = String(view().own[slo.value][0]);
      update();
    });
    form.append(el("label", {}, ["Service level", slo]));
    var off = (state.off || "").split("|").filter(Boolean);
    var kinds = [["device", data.of || "Device"], ["engine", "Engine"], ["precision", "Precision"], ["impl", "Implementation"], ["tool", "Tool"]];
    // Each way to share the work has switches of its own: "ep 1, tp 8" is of two.
    data.lines.forEach((l) => {
      (l.parallel || "").split(", ").forEach((part) => {
        var at = part.lastIndexOf(" "),
          name = part.slice(0, at);
        if (at < 1 || name === "precision") return;
        l["of " + name] = part.slice(at + 1);
        if (!kinds.some((k) => k[0] === "of " + name)) kinds.splice(3, 0, ["of " + name, SHARING[name] || name]);
      });
    });
    kinds.forEach((kind) => {
      var values = [];
      data.lines.forEach((l) => {
        var v = l[kind[0]] || "not stated";
        if (values.indexOf(v) < 0) values.push(v);
      });
      if (values.length < 2) return;
      form.append(
        el("fieldset", {}, [el("legend", {}, kind[1])].concat(
          values.map((v) => {
            var key = kind[0] + "=" + v,
              box = el("input", { type: "checkbox", checked: off.indexOf(key) < 0 ? "" : null });
            box.addEventListener("change", () => {
              off = off.filter((x) => x !== key);
              if (!box.checked) off.push(key);
              state.off = off.join("|");
              update();
            });
            return el("label", { class: "check" }, [box, " " + v]);
          })
        ))
      );
    });
    form.addEventListener("submit", (e) => { e.preventDefault(); });
    host.replaceChildren(form, figure, readout, best, extra);

    function shown(l) {
      return !kinds.some((k) => off.indexOf(k[0] + "=" + (l[k[0]] || "not stated")) >= 0);
    }
    function view() {
      var rate = rates.filter((r) => r.id === state.y)[0] || rates[0],
        axis = Math.max(1, AXES.findIndex((a) => a && a.id === state.x)),
        workload = data.workloads[state.w || 0] || data.workloads[0],
        own = data.limits.map((l, i) => [i, l]).filter((l) => l[1].axis === axis),
        limit = state.l === "none" ? null : own.filter((l) => String(l[0]) === String(state.l))[0];
      var loads = {};
      data.lines.forEach((l) => {
        if (l.workload === workload)
          l.points.forEach((p) => { loads[p.load] = p.at; });
      });
      loads = Object.keys(loads).sort((a, b) => loads[a] - loads[b]);
      var load = String(state.l || "")[0] === "c" ? state.l.slice(1) : "";
      if (load && loads.indexOf(load) >= 0) return { rate, axis, workload, own, loads, load, limit: null, limitAt: state.l };
      if (!limit && state.l !== "none") limit = own.filter((l) => l[0] === data.limit)[0] || own[Math.floor((own.length - 1) / 2)];
      return { rate, axis, workload, own, loads, load: "", limit: limit ? limit[1] : null, limitAt: limit ? limit[0] : "none" };
    }

    function swatch(l) {
      var svg = ttreport.svg(34, 12, { class: "k" + l.colour, width: 34, height: 12, "aria-hidden": "true" });
      draw(svg, "path", { class: "ln s d" + l.dash, d: "M1 6H33" });
      mark(svg, l.shape, 17, 6);
      return svg;
    }
    function number(v) {
      return v == null || isNaN(v) ? "–" : digits(v);
    }
    // asked is a length or a concurrency that was asked for: 8, not 8.00.
    function asked(v) {
      return Number.isInteger(v) ? v.toLocaleString("en-US") : number(v);
    }

    // ranked are the best points of lines within what is chosen, best first.
    function ranked(v, lines) {
      return lines.map((l) => {
        var b = v.limit ? v.limit.best[l.index] : null,
          top = l.points[0];
        if (v.load) top = l.points.filter((p) => p.load === v.load)[0];
        else if (!v.limit) l.points.forEach((p) => { if (p.values[0] >= top.values[0]) top = p; });
        if (!v.limit) b = top ? { at: top.at, output: top.values[0], values: top.values } : { why: "not measured at " + loadText(v.load) };
        return { l, b, y: b.output ? v.rate.of(l, b.output) : NaN };
      }).sort((a, b) => isNaN(a.y) || isNaN(b.y) ? isNaN(a.y) - isNaN(b.y) : (b.y - a.y) * (v.rate.cost ? -1 : 1));
    }
    // bound marks a number that is not bracketed: the line never leaves the limit.
    function bound(b, cost) {
      return b.least ? (cost ? "≤\u202f" : "≥\u202f") : "";
    }
    function within(v) {
      return v.load ? "At " + loadText(v.load) : v.limit ? v.limit.text : "";
    }

    // sentence is the headline of the page for what is chosen, of at most 20 words; its names are links.
    function sentence(v, rows) {
      var said = [(within(v) || "Highest output") + " on " + data.model + ", " + v.workload + ": "];
      rows.filter((r, i) => !isNaN(r.y) && (!i || r.l.device !== rows[0].l.device)).slice(0, 2).forEach((r, i) => {
        var more = [i ? " and " : "", el("a", { href: root + r.l.href }, r.l.name), (i ? " " : v.rate.cost ? " costs " : " serves ") +
          (r.b.least ? (v.rate.cost ? "at most " : "at least ") : "") + digits(r.y) + (i ? "" : " " + v.rate.title.replace("output tok/s", "tok/s"))];
        if (!i || said.concat(more).map(x => x.textContent || x).join("").split(/\s+/).length <= 20) said.push(...more);
      });
      return said.concat(said.length > 1 ? "." : "nothing was measured.");
    }

    function table(v, rows) {
      var lines = rows.map((r) => r.l),
        of = data.of || "Configuration",
        heads = [of, "Concurrency", "Output tok/s"].concat(v.rate.id === "total" ? [] : [v.rate.id === "chip" ? "Per chip tok/s" : v.rate.title], ["Per user tok/s", v.axis === 4 ? "TTFT P90 ms" : "TTFT ms", "E2EL ms"]);
      return el("table", { class: "list", role: "table" }, [
        el("caption", {}, (v.load || v.limit ? within(v) + (v.load ? "" : ": best point of each " + of.toLowerCase()) : "Highest measured output of each " + of.toLowerCase()) + ", " + v.workload + (rows.some((r) => r.b.least) ? ". ≥: within the limit at the highest load that was measured" : "") + (lines.some((l) => l.median) ? ". Medians, where files have no means" : "")),
        el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, heads.map((h, i) => el("th", { scope: "col", role: "columnheader", class: i ? "n" : null }, h)))),
        el("tbody", { role: "rowgroup" }, rows.map((r) => {
          var name = el("th", { scope: "row", role: "rowheader" }, el("span", { class: "sw" }, [swatch(r.l), el("a", { href: root + r.l.href }, r.l.name)].concat(r.l.median ? [el("small", {}, "medians")] : [])));
          if (r.b.why) return el("tr", { role: "row" }, [name, el("td", { role: "cell", colspan: heads.length - 1, class: "n absent" }, r.b.why)]);
          var cells = [bound(r.b) + asked(r.b.at) + (/s$/.test(r.l.points[0].load) ? " req/s" : ""), bound(r.b) + number(r.b.output)].concat(v.rate.id === "total" ? [] : [isNaN(r.y) ? "–" : bound(r.b, v.rate.cost) + number(r.y)], [number(r.b.values[1]), number(r.b.values[v.axis === 4 ? 4 : 2]), number(r.b.values[3])]);
          return el("tr", { role: "row" }, [name].concat(cells.map((c, i) => el("td", { role: "cell", class: "n short", "data-l": heads[i + 1] }, c))));
        }))
      ]);
    }

    function front(lines, right, cost) {
      var down = cost ? -1 : 1;
      var all = [].concat.apply([], lines.map((l) => l.points));
      return all.filter((p) => !all.some((o) => o !== p && (right ? o.x >= p.x : o.x <= p.x) && o.y * down >= p.y * down && (o.x !== p.x || o.y !== p.y))).sort((a, b) => a.x - b.x);
    }

    function paint() {
      var v = view(),
        axis = AXES[v.axis],
        aside = (data.scaling || []).length === 1 && host.clientWidth >= 1200, // there is room for both pictures
        wide = (host.clientWidth || 640) - (aside ? 492 : 0),
        left = 0,
        lines = data.lines.map((l, i) => { l.index = i; return l; }).filter((l) => l.workload === v.workload && shown(l)),
        drawn = lines.map((l) => {
          var known = !isNaN(v.rate.of(l, 1)),
            b = v.limit && v.limit.best[l.index];
          return {
            name: l.name, colour: l.colour, shape: l.shape, dash: l.dash,
            points: !known ? [] : l.points.filter((p) => p.values[v.axis] != null).map((p) => ({ x: p.values[v.axis], y: v.rate.of(l, p.values[0]), load: p.load, run: p.run, text: loadText(p.load) + ": " + digits(v.rate.of(l, p.values[0])) + " " + v.rate.title.replace("output tok/s", "tok/s") + ", " + digits(p.values[v.axis]) + " " + (v.axis === 1 ? axis.text : "ms " + axis.text) })),
            band: known && l.bands && l.bands[v.axis - 1] ? l.bands[v.axis - 1].map((e) => [e[0], v.rate.of(l, e[1]), v.rate.of(l, e[2])]) : null,
            path: known && l.paths && l.paths[v.axis - 1] ? l.paths[v.axis - 1].map((e) => ({ x: e[0], y: v.rate.of(l, e[1]) })) : [],
            best: b && !b.why && !b.least && known ? { x: b.values[v.axis], y: v.rate.of(l, b.output) } : null
          };
        }).filter((l) => {
          if (!l.points.length) left++;
          return l.points.length;
        });
      limits.replaceChildren.apply(limits, v.own.map((l) => el("option", { value: l[0], selected: l[0] === v.limitAt }, l[1].text.replace(/^At (an? )?/, ""))).concat([el("option", { value: "none", selected: v.limitAt === "none" }, "none: highest output")], v.loads.map((c) => el("option", { value: "c" + c, selected: v.limitAt === "c" + c }, "at " + loadText(c)))));
      var rows = ranked(v, lines);
      best.replaceChildren(table(v, rows));
      slo.max = v.own.length - 1;
      slo.value = v.own.findIndex((l) => l[0] === v.limitAt);
      slo.parentNode.hidden = v.own.length < 2;
      slo.setAttribute("aria-valuetext", v.limit ? v.limit.text : "none");
      if (headline) h1.replaceChildren(...(location.hash.indexOf(id + "=") > 0 ? sentence(v, rows) : headline));
      readout.textContent = left ? left + " of " + lines.length + " configurations are not drawn: " + (v.rate.id === "total" ? "without " + axis.text : v.rate.id === "chip" ? "how many chips they have is not stated" : "without a price, or a length of prompts") + "." : "Wide grey line: Pareto front. Shaded: within the limit. Ring: best point, between two measured ones." + (drawn.some((l) => l.band) ? " Coloured bands hold the whole curve with 95 % confidence, by repeats or by the releases before." : "");
      host.classList.toggle("two", aside);
      extra.replaceChildren.apply(extra, (data.scaling || []).map((s) => {
        var o = {
          width: Math.max(300, Math.min(460, wide)), height: 240, logx: true, xTitle: s.x, yTitle: s.y, label: data.model + ": " + s.title,
          lines: s.lines.filter((l) => shown(data.lines[l.line])).map((l) => {
            var look = data.lines[l.line];
            return { name: look.name, colour: look.colour, shape: look.shape, dash: look.dash, points: l.points.map((p) => ({ x: p[0], y: p[1], text: asked(p[0]) + ": " + digits(p[1]) })) };
          })
        };
        var ys = [].concat.apply([], o.lines.map((l) => l.points.map((p) => p.y)));
        o.logy = Math.min.apply(null, ys) > 0 && Math.max.apply(null, ys) / Math.min.apply(null, ys) > 30;
        if (!ys.length) return el("span");
        var svg = plot(o),
          out = el("output", { class: "more" });
        readable(svg, o.spots, out, root);
        return el("figure", {}, [el("figcaption", {}, el("b", {}, s.title)), svg, out]);
      }));
      if (!drawn.length) {
        figure.replaceChildren(el("div", { class: "empty" }, "Nothing to draw: no configuration that is chosen has these numbers."));
        return;
      }
      var xs = [].concat.apply([], drawn.map((l) => l.points.map((p) => p.x))),
        o = {
          width: wide, height: wide < 500 ? 320 : 380, lines: drawn, loads: true, xTitle: axis.title, yTitle: v.rate.title + (v.rate.cost ? ", down is better" : ", up is better"),
          logx: v.axis > 1 && Math.max.apply(null, xs) / Math.min.apply(null, xs) > 30, logy: v.rate.cost,
          limit: v.limit ? { x: v.limit.value, right: axis.right, text: "limit " + round(v.limit.value) + (axis.right ? " tok/s per user" : " ms") } : null,
          front: front(drawn, axis.right, v.rate.cost), label: host.dataset.label
        },
        svg = plot(o);
      readable(svg, o.spots, readout, root);
      figure.replaceChildren(svg);
    }
    function update() {
      write(id, { y: state.y === "total" ? "" : state.y, x: state.x === usual ? "" : state.x, w: state.w === "0" ? "" : state.w, l: state.l, off: state.off });
      paint();
    }
    paint();
    var last = host.clientWidth;
    addEventListener("resize", () => {
      if (host.clientWidth !== last) {
        last = host.clientWidth;
        paint();
      }
    });
  }

  ttreport.plot = plot;
  ttreport.readable = readable;

  addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("[data-plane]").forEach((host) => {
      ttreport.load(host.dataset.shard).then(() => {
        var all = ttreport.data("planes " + host.dataset.id);
        if (all && all[host.dataset.plane]) fill(host, all[host.dataset.plane]);
      });
    });
  });
})();
