// One series over its releases: its levels, its targets, what began a level, and the other metrics of its workload.
"use strict";
(function () {
  var { el, digits } = ttreport,
    { percent, count, select, sorted, spark, verdict, LEVELS } = ttreport.series,
    redraw; // the chart that is shown

  function mean(list) {
    list = list.filter(v => v != null);
    return list.length ? list.reduce((a, b) => a + b, 0) / list.length : null;
  }

  // levels are the stretches between steps with their means, and where a new value of each is expected. The judged means
  // count: they leave out what is excluded.
  function levels(s) {
    var steps = (s.steps || []).filter((x, i, all) => x.at > (i ? all[i - 1].at : 0)),
      ends = [0].concat(steps.map(x => x.at), s.v.length);
    return ends.slice(1).map((to, i) => {
      var began = i && steps[i - 1].levels,
        ended = steps[i] && steps[i].levels,
        expected = steps[i] ? steps[i].expected : s.from >= ends[i] || !i ? s.expected : null;
      return { from: ends[i], to, mean: began ? began[1] : ended ? ended[0] : mean(s.v.slice(ends[i], to)), expected };
    });
  }

  function title(t, s, list) {
    var last = (s.steps || []).slice(-1)[0],
      l = list[list.length - 1],
      b = list[list.length - 2];
    if (!last || !b || b.mean == null || l.mean == null)
      return s.k + " has one level in " + count(s.v.filter(v => v != null).length, "release") + ".";
    return s.k + ": " + digits(b.mean) + " → " + digits(l.mean) + " " + s.unit + " (" + last.label + ") since " + t.releases[last.at].name + (last.whole && last.whole !== last.label ? "; the whole change: " + last.whole : "") + ".";
  }

  // option adds the numbers of a series to what the option of all of them is.
  function option(all, t, s, list, scale, from, to, width) {
    var base = list[0].mean,
      rel = scale === "percent" && base,
      y = v => (v == null ? "-" : rel ? +(100 * (v / base - 1)).toFixed(3) : v),
      marks = [],
      areas = [],
      ends = [], // of the labels of steps, in pixels, by line: one that would touch another of the whole chart stands above it
      phone = innerWidth < 600,
      range = !rel && !scale && s.range;
    function area(from, to, expected) {
      areas.push([{ xAxis: from, yAxis: y(expected[0]) }, { xAxis: to, yAxis: y(expected[1]) }]);
    }
    list.forEach((l) => {
      if (l.expected) area(l.from, l.to - 1, l.expected);
      if (l.mean == null) return;
      marks.push([
        { coord: [l.from, y(l.mean)], lineStyle: { type: "dashed", color: colour("--ink2") }, label: { show: false } },
        { coord: [l.to - 1, y(l.mean)] }
      ]);
    });
    (s.steps || []).forEach((x) => {
      var formatter = x.label + (phone ? "" : " since " + t.releases[x.at].name),
        align = x.at > 0.7 * s.v.length ? "right" : "center",
        long = 7 * formatter.length,
        begin = ((x.at + 0.5) / s.v.length) * (width - 110) - long * (align === "right" ? 1 : 0.5),
        line = ends.concat(-Infinity).findIndex(end => end < begin);
      ends[line] = begin + long + 6;
      marks.push({ xAxis: x.at, name: "step", lineStyle: { type: "dotted", color: colour("--bad") }, label: { formatter, align, distance: 5 + 16 * line, color: colour("--ink") } });
    });
    (s.targets || []).forEach((x) => {
      marks.push({ yAxis: y(x.value), lineStyle: { type: "dashed", color: colour("--ink") }, label: { formatter: x.label + " " + digits(x.value), position: "insideStartTop", color: colour("--ink") } });
    });
    var own = {
      textStyle: { fontFamily: getComputedStyle(document.body).fontFamily, color: colour("--ink2") },
      grid: { right: phone ? 16 : 64, top: 28 + 16 * Math.max(1, ends.length) },
      tooltip: { confine: true, renderMode: "richText", textStyle: { fontSize: 12, color: colour("--ink") }, formatter: p => said(t, s, list, [].concat(p)[0].dataIndex) },
      toolbox: { itemSize: 1, feature: { dataZoom: { iconStyle: { opacity: 0 } } } },
      dataZoom: { startValue: from, endValue: to, bottom: 8, height: 20, fillerColor: "transparent", showDataShadow: false, borderColor: colour("--rule"), handleStyle: { color: colour("--panel"), borderColor: colour("--ink2") }, moveHandleStyle: { color: colour("--rule") } },
      xAxis: { data: t.releases.map(r => r.name) },
      yAxis: { min: range && range[0], max: range && range[1], name: rel ? "% of the first level" : s.unit + (s.higher ? ", higher is better" : ", lower is better"), nameGap: 8 + 16 * Math.max(1, ends.length), nameTextStyle: { align: "left" } },
      series: {
        data: s.v.map(y),
        markLine: { data: marks, silent: true },
        markArea: { silent: true, itemStyle: { color: colour("--band") }, data: areas }
      }
    };
    if (scale === "log") own.yAxis.type = "log";
    return joined(JSON.parse(all, (k, v) => (v === null ? undefined : /^--/.test(v) ? colour(v) : v)), own);
  }

  // joined is what an option states together with another; of a list it is the first that the other is for.
  function joined(a, b) {
    if (Array.isArray(a) && !Array.isArray(b)) return [joined(a[0], b)];
    if (!a || !b || a.constructor !== Object || b.constructor !== Object) return b;
    return Object.keys(b).reduce((all, k) => Object.assign(all, { [k]: joined(all[k], b[k]) }), a);
  }

  // colour is what a custom property comes to in the theme of now: its own text may be a choice between two.
  function colour(name) {
    var probe = document.createElement("span");
    probe.style.color = "var(" + name + ")";
    document.body.appendChild(probe);
    var c = getComputedStyle(probe).color;
    probe.remove();
    return c;
  }

  // judged is the verdict on a series in a release.
  function judged(t, s, i) {
    return t.verdicts[(s.g || "").charCodeAt(i) - 97] || "";
  }

  // tabs are links of which one is chosen.
  function tabs(name, list, state, key) {
    return el("ul", { class: "tabs", "aria-label": name }, list.map(x => el("li", {}, el("a", { href: address(state, { [key]: x[0] }), "aria-current": (state[key] || "") === x[0] ? "true" : null }, x[1]))));
  }

  // levelAt is the level that a release is of.
  function levelAt(list, i) {
    return list.filter(l => l.from <= i).pop();
  }

  // said is what stands at the pointer.
  function said(t, s, list, i) {
    var r = t.releases[i],
      v = s.v[i],
      before = levelAt(list, i);
    var lines = [r.name + (r.day ? ", " + r.day : ""), v == null ? "not measured" : digits(v) + " " + s.unit + (before && before.mean ? ", " + percent(v / before.mean - 1) + " of its level" : "")];
    (s.steps || []).forEach(x => x.at === i && lines.push("new level: " + x.label));
    if (judged(t, s, i)) lines.push(judged(t, s, i));
    if (r.commits) lines.push(r.commits);
    if (r.note) lines.push(r.note);
    return lines.join("\n");
  }

  function small(t, s, state) {
    var lo = Math.min.apply(null, s.v.filter(v => v != null)),
      hi = Math.max.apply(null, s.v),
      span = Math.max(hi - lo, 0.2 * Math.abs(hi)) || 1,
      mid = (lo + hi) / 2,
      letters = s.v.map(v => (v == null ? "-" : LEVELS[Math.round(63 * ((v - mid) / span + 0.5))])).join(""),
      [before, now] = levels(s).slice(-2).map(l => digits(l.mean || 0)); // one level is the newest value
    return el("a", { class: "small", href: address(state, { k: s.k }), "aria-current": s.k === state.k ? "true" : null }, [
      el("b", {}, s.k), " " + (now ? before + " → " + now : digits(s.v.filter(v => v != null).pop() || 0)) + " " + s.unit, spark(letters)
    ]);
  }

  function address(state, other) {
    return ttreport.hash(Object.assign({}, state, other));
  }

  function show(root, host, t) {
    var state = ttreport.read(),
      s = t.series.find(s => (!state.w || (s.w + " ").startsWith(state.w + " ")) && s.k === state.k) || t.series.find(s => s.w === state.w) || t.series[0],
      chart;
    if (!s) return host.replaceChildren(el("p", {}, "Nothing was measured more than once."));
    state.w = s.w;
    state.k = s.k;
    var list = levels(s),
      headline = title(t, s, list);
    document.querySelector("h1").textContent = headline;
    document.title = s.k + " of " + t.model + " on " + t.device;
    var workload = select("Workload", "w", sorted(t.series.map(x => x.w)));
    workload.input.value = s.w;
    workload.input.addEventListener("change", () => (location.hash = address(state, { w: workload.input.value })));
    document.documentElement.classList.toggle("embed", !!state.embed);
    var canvas = el("div", { class: "canvas tall", role: "img", tabindex: "0", "aria-label": headline }),
      name = (t.model + "-" + t.device + "-" + s.w + "-" + s.k).replace(/[^\w.-]+/g, "_"),
      link = ttreport.copying("Copy link", () => location.href),
      frame = ttreport.copying("Embed", () => el("iframe", { src: location.href.split("#")[0] + address(state, { embed: "1" }), width: "960", height: "600", title: headline }).outerHTML),
      csv = ttreport.button("CSV", () => ttreport.offer(name + ".csv", "text/csv", ttreport.csv([["release", "day", s.k + " " + s.unit, "verdict"]].concat(t.releases.map((r, i) => [r.name, r.day, s.v[i], judged(t, s, i)]))))),
      png = ttreport.button("PNG", () => {
        if (!chart) return;
        var url = chart.getDataURL({ pixelRatio: 2, backgroundColor: colour("--paper") });
        ttreport.offer(name + ".png", "image/png", Uint8Array.from(atob(url.split(",")[1]), c => c.charCodeAt(0)));
      });
    var facts = s.g ? [["Newest", verdict({ verdict: judged(t, s, s.v.length - 1) })]] : [];
    list.forEach((l, i) => l.mean != null && facts.push([i ? "Since " + t.releases[l.from].name : "First level", [
      digits(l.mean) + " " + s.unit + ", " + count(l.to - l.from, "release"),
      l.expected ? el("small", {}, "95 of 100 new values in " + digits(l.expected[0]) + " to " + digits(l.expected[1])) : ""
    ]]));
    (s.targets || []).forEach(x => facts.push(["Target " + x.label, digits(x.value) + " " + s.unit]));
    (s.steps || []).forEach(x => x.page && facts.push([x.whole === x.label ? "Change" : "Part of", el("a", { href: root + x.page }, x.whole + " since " + t.releases[x.at].name)]));
    var far = s.range && t.releases.filter((r, i) => s.v[i] != null && (s.v[i] < s.range[0] || s.v[i] > s.range[1])).map(r => r.name + " " + digits(s.v[t.releases.indexOf(r)]));
    var heads = ["Release", s.k + " " + s.unit, "Against its level", "Verdict"];
    var rows = t.releases.map((r, i) => i).reverse().filter(i => s.v[i] != null).map((i) => {
      var l = levelAt(list, i),
        r = t.releases[i],
        value = digits(s.v[i]);
      return el("tr", {}, [
        el("th", { scope: "row" }, [el("a", { href: root + r.page }, r.name), el("small", {}, r.day || "")]),
        el("td", { class: "n short", "data-l": "Value" }, r.run ? el("a", { href: root + r.run }, value) : value), el("td", { class: "n short", "data-l": heads[2] }, l && l.mean ? percent(s.v[i] / l.mean - 1) : ""),
        el("td", { class: "medium" }, [s.g ? verdict({ verdict: judged(t, s, i) }) : "not judged", el("small", {}, ((s.steps || []).filter(x => x.at === i).map(x => "new level: " + x.label)).join())])
      ]);
    });
    var same = t.series.filter(x => x.w === s.w);
    host.replaceChildren(
      el("p", { class: "more" }, [el("a", { href: root + t.page }, t.model + " on " + t.device), ", " + s.w]),
      el("form", { class: "filters" }, [
        workload.box, tabs("Metric", same.filter(x => x.g).map(x => [x.k, x.k]), state, "k"),
        tabs("Scale", [["", "Linear"], ["log", "Log"], ["percent", "% of the first level"]], state, "scale"), el("p", { class: "downloads" }, [link, " ", csv, " ", png, " ", frame])
      ]),
      el("div", { class: "trend" }, [canvas, el("dl", {}, facts.map(f => el("div", {}, [el("dt", {}, f[0]), el("dd", {}, f[1])])))]),
      el("p", { class: "more" }, (far && !state.scale ? "Beyond the axis: " + far.join(", ") + ". " : "") + "Drag across the chart to zoom, double-click to go back. Arrow keys go from release to release; Enter or a click opens the run. Dashed: the mean of a level. Grey: where 95 of 100 new values of a level are expected."),
      el("h2", {}, "The same workload, all metrics"),
      el("div", { class: "smalls" }, same.map(x => small(t, x, state))),
      el("h2", {}, "Verdict of each release"),
      el("div", { class: "tw whole", tabindex: "0", role: "region", "aria-label": "Verdict of each release" }, el("table", { class: "list" }, [
        el("thead", {}, el("tr", {}, heads.map((h, i) => el("th", { scope: "col", class: i > 0 && i < 3 ? "n" : null }, h)))), el("tbody", {}, rows)
      ]))
    );
    function open(i) {
      if (s.v[i] != null) location.href = root + (t.releases[i].run || t.releases[i].page);
    }
    ttreport.load(root + "assets/echarts.min.js").then(() => {
      var ends = (state.zoom || "").split("~").map(name => t.releases.findIndex(r => r.name === name));
      function draw() {
        if (chart) chart.dispose();
        chart = canvas.ttchart = echarts.init(canvas);
        chart.setOption(option(host.dataset.option, t, s, list, state.scale, ends[0] >= 0 ? ends[0] : undefined, ends[1] >= 0 ? ends[1] : undefined, canvas.clientWidth));
        // Dragging zooms. It is switched on by the pointer that could drag: it draws the chart once more, a third of the time
        // that a phone needs for the first picture.
        canvas.onpointerenter = () => chart.dispatchAction({ type: "takeGlobalCursor", key: "dataZoomSelect", dataZoomSelectActive: true });
        if (canvas.matches(":hover")) canvas.onpointerenter();
        chart.on("datazoom", () => {
          var z = chart.getOption().dataZoom[0];
          state.zoom = z.start > 0 || z.end < 100 ? t.releases[z.startValue].name + "~" + t.releases[z.endValue].name : "";
          ends = state.zoom ? [z.startValue, z.endValue] : [-1, -1];
          ttreport.write(state, false);
        });
        chart.on("click", p => open(p.dataIndex));
        chart.getZr().on("dblclick", () => chart.dispatchAction({ type: "dataZoom", start: 0, end: 100 }));
      }
      draw();
      var at = s.v.length - 1;
      canvas.onkeydown = function (e) {
        var way = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
        if (e.key === "Enter") open(at);
        if (!way) return;
        e.preventDefault();
        at = Math.max(0, Math.min(s.v.length - 1, at + way));
        chart.dispatchAction({ type: "showTip", seriesIndex: 0, dataIndex: at });
        canvas.setAttribute("aria-label", said(t, s, list, at));
      };
      redraw = draw;
    });
  }

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("[data-widget='trend']").forEach((host) => {
      var root = host.dataset.root;
      function start() {
        var of = ttreport.read().of || "";
        if (!/^[\w.~-]+$/.test(of)) {
          host.querySelector("p").textContent = "Choose a series in Explore, or a small picture of one on any page.";
          return;
        }
        ttreport.load(root + "data/shards/pairs/" + of + ".js").then(
          () => show(root, host, ttreport.data("pair " + of)),
          () => host.replaceChildren(el("p", { class: "more" }, "There are no series of this name: data/shards/pairs/ belongs to the site."))
        );
      }
      start();
      addEventListener("hashchange", start);
      addEventListener("resize", () => redraw && redraw());
      new MutationObserver(() => redraw && redraw()).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    });
  });
})();
