// What a comparison shows of both sides: a matrix of workloads and metrics, curves over concurrency on one plane, and
// what was not the same work.
"use strict";
(function () {
  var MOST = 40,
    FIRST = ["TTFT mean", "TPOT mean", "E2EL mean", "Output tok/s"];

  // curvesOf gathers the rows of each system and length: at least two loads of a metric make a curve.
  function curvesOf(rows) {
    var all = new Map();
    rows.forEach((r) => {
      var m = /^([^\s/]+\/[^\s/]+)\/(\d+(?:\.\d+)?)(.*)$/.exec(r.workload);
      if (!m || r.unlike || r.m.score) return;
      var name = r.where + ", " + m[1] + m[3] + (r.tool ? ", " + r.tool : ""),
        curve = all.get(name) || { name, size: 0, metrics: new Map() },
        metric = curve.metrics.get(r.m.label) || { m: r.m, points: [] };
      metric.points.push({ at: +m[2], a: r.a, b: r.b });
      curve.metrics.set(r.m.label, metric);
      all.set(name, curve);
    });
    return Array.from(all.values())
      .map((c) => {
        c.metrics = Array.from(c.metrics.values())
          .filter((x) => {
            x.points.sort((p, q) => p.at - q.at);
            c.size = Math.max(c.size, x.points.length);
            return x.points.length > 1;
          })
          .sort((p, q) => place(p) - place(q))
          .slice(0, 4);
        return c;
      })
      .filter((c) => c.metrics.length)
      .sort((p, q) => q.size - p.size)
      .slice(0, MOST);
  }
  ttreport.FIRST = FIRST; // metrics, in the order of columns
  ttreport.CHOICES = ["model", "device", "setup", "tool"];
  function place(x) {
    var k = FIRST.indexOf(x.m.label);
    return k < 0 ? FIRST.length : k;
  }

  // line is one side of a metric.
  function line(x, side, name, k) {
    return {
      name, colour: k + 1, shape: k, dash: k + 1,
      points: x.points.map((p) => ({ x: p.at, y: p[side], load: String(p.at), text: ttreport.digits(p[side]) + "\u202f" + x.m.unit + " at concurrency " + p.at }))
    };
  }

  // called names the sides by what tells them apart: "n150", "v0.6.0".
  function called(chosen, releases) {
    return chosen.map((c, n) => (
        ttreport.CHOICES
          .map((k) => chosen[0][k] !== chosen[1][k] ? c[k] : "")
          .filter(Boolean)
          .join(" ") || (releases[0] !== releases[1] ? releases[n] : n ? "B" : "A")
      ));
  }

  // overlay fills a box with the curves of the rows; chosen and releases are the choices of both sides.
  ttreport.overlay = function (box, rows, chosenOf, releases) {
    var series = ttreport.series,
      el = ttreport.el,
      names = called(chosenOf, releases),
      curves = curvesOf(rows);
    box.textContent = "";
    if (!curves.length) return;
    var chosen = ttreport.read().curve,
      choice = series.select("Curves of", "curve", curves.map((c) => c.name)),
      now = curves.filter((c) => c.name === chosen)[0] || curves[0],
      out = el("output", { class: "more" }),
      width = Math.max(280, Math.min(460, (box.clientWidth || 460) - 2));
    choice.input.value = now.name;
    choice.input.addEventListener("change", () => {
      var state = ttreport.read();
      state.curve = choice.input.value;
      ttreport.write(state, true);
      ttreport.overlay(box, rows, chosenOf, releases);
      box.querySelector("select").focus();
    });
    box.appendChild(el("form", { class: "filters" }, choice.box));
    box.appendChild(
      el("div", { class: "curves" }, now.metrics.map((x) => {
        var lines = [line(x, "a", names[0], 0), line(x, "b", names[1], 1)],
          at = x.points.map((p) => p.at),
          o = {
            width, height: 260, lines, xTitle: "concurrency", logx: at[at.length - 1] / at[0] > 8,
            yTitle: x.m.label + ", " + x.m.unit + ", " + (x.m.higher ? "higher" : "lower") + " is better",
            label: x.m.label + " of " + names[0] + " and " + names[1] + " over concurrency: " + now.name
          },
          svg = ttreport.plot(o);
        ttreport.readable(svg, o.spots, out, "");
        return el("figure", {}, svg);
      }))
    );
    box.appendChild(out);
  };

  // noise is half of the 95 % interval of a change, of logarithms; NaN where none is known.
  ttreport.noise = noise;
  function noise(x) {
    var h = x.t.h && x.t.h[x.i];
    return h == null ? NaN : h / 1e4;
  }
  // ratio is the 95 % interval of B / A by the noise of both; "" where one is not known.
  ttreport.ratio = ratio;
  function ratio(r, show) {
    var h = Math.hypot(noise(r.one), noise(r.two));
    return h >= 0 && r.a > 0 && r.b > 0 ? show((r.b / r.a) * Math.exp(-h)) + " to " + show((r.b / r.a) * Math.exp(h)) : "";
  }
  function times(v) {
    return "×" + (v < 10 ? v.toFixed(2) : ttreport.digits(v));
  }
  // means is a row of the matrix: the geometric mean of some rows by metric, with the lowest and the highest.
  function means(name, labels, list) {
    var el = ttreport.el;
    return el("tr", { role: "row", class: "mean" }, [el("th", { role: "rowheader", scope: "row" }, name)].concat(labels.map((label) => {
      var all = list.filter(r => r.m.label === label && !r.unlike && !r.m.score && r.a > 0 && r.b > 0).map(r => Math.log(r.b / r.a)),
        of = f => times(Math.exp(f(...all)));
      return cell(label, all.length ? [el("b", {}, of((...x) => x.reduce((p, q) => p + q, 0) / x.length)), el("small", {}, "n = " + all.length + ", " + of(Math.min) + " to " + of(Math.max))] : "");
    })));
  }
  function cell(label, kids) {
    return ttreport.el("td", { role: "cell", class: "n medium", "data-l": label }, kids);
  }
  // one is a number on both sides: B / A, its interval, the values.
  function one(root, r) {
    var series = ttreport.series, el = ttreport.el;
    var values = el("small", {}, [series.number(root, r.one.t, r.one.i), " → ", series.number(root, r.two.t, r.two.i)]);
    if (r.unlike) return [el("span", { class: "v not-comparable" }, r.unlike), values];
    return [
      el("span", { class: r.far ? "v " + r.word : null }, r.m.score || !(r.a > 0) ? series.change(r.m, r.change) : times(r.b / r.a) + (r.far ? " " + r.word : "")),
      el("small", {}, r.m.score ? "" : ratio(r, times)), values
    ];
  }
  // fillMatrix has a row for each workload, grouped by system and lengths, and a column for each metric.
  ttreport.matrix = function (box, rows, root, most) {
    var { el } = ttreport, { sorted } = ttreport.series;
    var groups = new Map(),
      labels = [],
      body = [],
      n = 0;
    rows.forEach((r) => {
      var m = /^([^\s/]+\/[^\s/]+)\/\S+(.*)$/.exec(r.workload),
        g = [r.where, m ? m[1] + m[2] : "", r.tool].filter(Boolean).join(" · "),
        id = r.workload;
      if (labels.indexOf(r.m.label) < 0) labels.push(r.m.label);
      if (!groups.has(g)) groups.set(g, new Map());
      if (!groups.get(g).has(id)) groups.get(g).set(id, []);
      groups.get(g).get(id).push(r);
      r.group = g;
    });
    var order = ttreport.FIRST;
    labels.sort((x, y) => (order.indexOf(x) + 99) % 99 - (order.indexOf(y) + 99) % 99);
    if (rows.some(r => !r.m.score)) body.push(means("Geometric mean", labels, rows));
    sorted(Array.from(groups.keys())).forEach((g) => {
      if (n >= most) return n++;
      if (groups.size > 1) body.push(means(g, labels, rows.filter(r => r.group === g)));
      sorted(Array.from(groups.get(g).keys())).forEach((id) => {
        if (++n > most) return;
        var list = groups.get(g).get(id);
        body.push(el("tr", { role: "row" }, [el("th", { role: "rowheader", scope: "row" }, [list[0].workload, el("small", {}, list[0].work.text)])].concat(labels.map((label) => {
          var r = list.find(r => r.m.label === label);
          return cell(label, r ? one(root, r) : "–");
        }))));
      });
    });
    var more = n > most && ttreport.button("Show all", () => ttreport.matrix(box, rows, root, Infinity));
    box.replaceChildren(...(rows.length ? [el("p", { class: "more" }, "Each cell: B / A, of scores B − A" + (rows.some(r => ratio(r, times)) ? ", with its 95\u202f% interval by the noise of both histories" : ", without an interval, as no noise is known here") + "; below it A → B. Rows of means: geometric mean, lowest and highest."), el("table", { class: "list", role: "table" }, [
      el("caption", { class: "vh" }, "Workloads by metric"),
      el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, ["Workload"].concat(labels).map((h, k) => {
        var r = rows.find(r => r.m.label === h);
        return el("th", { role: "columnheader", scope: "col", class: k ? "n" : null }, k && !r.m.score ? [h, el("small", {}, r.m.unit + ", " + (r.m.higher ? "higher" : "lower") + " is better")] : h);
      }))),
      el("tbody", { role: "rowgroup" }, body)
    ])] : []), ...(more ? [more] : []));
  };

  // work says what the requests of a workload did otherwise: a ratio of answers, failures, and both in words.
  ttreport.work = function (a, b) {
    var x = a.t.e && a.t.e[a.i],
      y = b.t.e && b.t.e[b.i],
      share = x > 0 && y > 0 ? Math.min(x, y) / Math.max(x, y) : 1,
      failed = [a, b].map(s => (s.t.f && s.t.f[s.i]) || 0),
      out = { share: share < a.t.least ? share : 1, failed, texts: ["", "", ""] };
    if (out.share < 1) out.texts[0] = "answers " + x.toLocaleString("en-US") + " → " + y.toLocaleString("en-US") + " tokens";
    failed.forEach((f, n) => {
      if (f) out.texts[n + 1] = Math.round(100 * f) + "\u202f% failed in " + "AB"[n];
    });
    out.text = out.texts.filter(Boolean).join("; ");
    return out;
  };
  // works says of how many workloads the two sides did not do the same work, and where it is worst.
  ttreport.works = function (rows) {
    var all = new Map(),
      said = "";
    rows.forEach((r) => {
      if (!r.m.score && !r.unlike) all.set(r.where + "\n" + r.workload + "\n" + r.tool, r);
    });
    [
      ["answers of one side clearly shorter", w => 1 - w.share],
      ["requests failed in A", w => w.failed[0]],
      ["requests failed in B", w => w.failed[1]]
    ].forEach((what, k) => {
      var list = Array.from(all.values())
        .filter(r => what[1](r.work) > 0)
        .sort((p, q) => what[1](q.work) - what[1](p.work));
      if (list.length)
        said += " In " + list.length + " of " + ttreport.series.count(all.size, "workload") + ": " + what[0] +
          ", most in " + list[0].workload + " (" + list[0].work.texts[k] + ").";
    });
    return said && "Not the same work:" + said + " ";
  };
  // unalike names the conditions in which the sides differ, of how many numbers.
  ttreport.unalike = function (all) {
    if (!all.size) return "";
    var list = Array.from(all, e => e[0] + " (" + ttreport.series.count(e[1], "number") + ")").slice(0, 8);
    return "Conditions differ: " + list.join("; ") + (all.size > 8 ? "; and " + (all.size - 8) + " more." : ".");
  };

  // nearest says what keeps most numbers of two sides apart: "120 numbers differ only in tool: vllm and aiperf".
  ttreport.nearest = function (a, b) {
    var best = { n: 0 };
    ["model", "device", "implementation", "workload", "tool", "configuration"].forEach((name, f) => {
      function without(key) {
        var parts = key.split("\n");
        parts[f] = "";
        return parts.join("\n");
      }
      var there = new Map(),
        n = 0,
        pair;
      b.forEach((_, key) => {
        there.set(without(key), key);
      });
      a.forEach((_, key) => {
        var other = there.get(without(key));
        if (!other) return;
        n++;
        pair = pair || [key.split("\n")[f], other.split("\n")[f]];
      });
      if (n > best.n) best = { n, name, pair };
    });
    return best.n
      ? " The nearest: " + ttreport.series.count(best.n, "number") + (best.n === 1 ? " differs" : " differ") + " only in " + best.name + ", such as " +
          (best.pair[0] || "none") + " in A and " + (best.pair[1] || "none") + " in B."
      : "";
  };
})();
