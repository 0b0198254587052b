// Enhancement only: theme, sorting, charts on demand. Every page reads without it.
"use strict";
(function () {
  var root = document.documentElement, key = "ttreport-theme", modes = ["auto", "light", "dark"];
  function stored() { try { return localStorage.getItem(key) || "auto"; } catch (e) { return "auto"; } }
  function apply(m) { if (m === "auto") root.removeAttribute("data-theme"); else root.setAttribute("data-theme", m); }
  var asked = new URLSearchParams(location.search).get("theme");
  var mode = modes.indexOf(asked) > 0 ? asked : stored();
  apply(mode); // before the first paint

  var shards = {}, waiting = {}, live = [];
  // Data files are scripts that call this: pages opened from disk can load no other kind of data.
  window.ttreport = { shard: function (id, data) { shards[id] = data; }, load: load, data: function (id) { return shards[id]; } };

  function load(src) {
    if (!waiting[src]) waiting[src] = new Promise(function (ok, no) {
      var s = document.createElement("script");
      s.src = src; s.onload = ok; s.onerror = no;
      document.head.appendChild(s);
    });
    return waiting[src];
  }

  function colour(name) {
    if (typeof name !== "string" || name.slice(0, 2) !== "--") return name;
    var probe = document.createElement("span");
    probe.style.color = "var(" + name + ")";
    document.body.appendChild(probe);
    var c = getComputedStyle(probe).color;
    probe.remove();
    return c;
  }

  function walk(v, f) {
    if (Array.isArray(v)) return v.map(function (x) { return walk(x, f); });
    if (v && typeof v === "object") { var o = {}; for (var k in v) o[k] = walk(v[k], f); return o; }
    return f(v);
  }

  // option fills in what data cannot carry: functions for formatter names, colours for token names, and the page's sizes.
  function option(s, scale, base) {
    var font = getComputedStyle(document.body).fontFamily, small = { fontSize: 11, fontFamily: font };
    var fns = {
      "@x": function (v) { return s.labels[v] || ""; },
      "@y": function (v) { for (var i = 0; i < s.yat.length; i++) if (Math.abs(s.yat[i] - v) <= 1e-9 * Math.max(1, Math.abs(v))) return s.yticks[i]; return ""; },
      "@point": function (p) { return p.seriesName + "\n" + (s.notes[p.seriesIndex] || [])[p.dataIndex]; }
    };
    var o = walk(s.option, function (v) { return fns[v] || colour(v); });
    ["left", "top", "right", "bottom"].forEach(function (side) { [].concat(o.grid).forEach(function (g) { g[side] = parseFloat(g[side]) * scale; }); });
    var x = [].concat(o.xAxis)[0], y = [].concat(o.yAxis)[0];
    // Labels stand at releases, whose places are whole numbers; left to itself ECharts starts at the edge, between two.
    x.axisLabel = Object.assign({}, x.axisLabel, { customValues: s.names.map(function (_, i) { return i; }) });
    x.axisLine = { lineStyle: { color: colour("--rule") }, onZero: false };
    x.axisPointer = { show: true, type: "line", snap: true, label: { show: false }, lineStyle: { color: colour("--rule"), type: "dotted" } };
    y.axisLine = { show: false, onZero: false }; y.axisTick = { show: false }; y.splitLine = { lineStyle: { color: colour("--hair") } };
    [x, y].forEach(function (a) { a.axisLabel = Object.assign({}, a.axisLabel, small, { color: colour("--ink2"), hideOverlap: false }); });
    o.tooltip = Object.assign({}, o.tooltip, { renderMode: "richText", backgroundColor: colour("--panel"), borderColor: colour("--rule"), textStyle: { color: colour("--ink"), fontSize: 12, fontFamily: font } });
    o.dataZoom = [{ type: "inside", zoomOnMouseWheel: "ctrl", moveOnMouseWheel: false, filterMode: "none" }];
    o.graphic = (s.texts || []).map(function (t) {
      return { type: "text", silent: true, x: t.x * scale, y: t.y * scale, style: { text: t.text, fill: colour(t.colour), font: (t.bold ? "600 " : "") + "11px " + font, align: t.align || "left", verticalAlign: "middle" } };
    });
    (o.series || []).forEach(function (line) {
      line.emphasis = { scale: 1.4 };
      if (line.markLine) { line.markLine.silent = true; if (line.markLine.label) Object.assign(line.markLine.label, small, { fontWeight: 600, color: colour("--ink") }); }
    });
    return o;
  }

  // offer puts a file into the reader's hands; what is in it is what the page shows.
  function offer(name, type, text) {
    var a = document.createElement("a"), url = URL.createObjectURL(new Blob([text], { type: type }));
    a.href = url; a.download = name;
    a.click();
    setTimeout(function () { URL.revokeObjectURL(url); }, 1000);
  }

  // standing is a drawing that looks the same without the page: its style is written into its attributes.
  function standing(svg) {
    var copy = svg.cloneNode(true), from = [svg].concat([].slice.call(svg.querySelectorAll("*"))), to = [copy].concat([].slice.call(copy.querySelectorAll("*")));
    from.forEach(function (e, i) {
      var s = getComputedStyle(e);
      ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-size", "font-family", "font-weight", "paint-order"].forEach(function (p) { if (s.getPropertyValue(p)) to[i].setAttribute(p, s.getPropertyValue(p)); });
      if (to[i].tagName === "a") to[i].removeAttribute("href");
    });
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    var box = svg.viewBox.baseVal;
    copy.setAttribute("width", box.width); copy.setAttribute("height", box.height);
    return new XMLSerializer().serializeToString(copy);
  }

  function cell(v) {
    var s = v == null ? "" : String(v);
    if (/^[=+@\t\r]|^-[^\d]/.test(s)) s = "'" + s; // no spreadsheet takes it for a formula
    return /[",\n]/.test(s) ? '"' + s.replace(/"/g, '""') + '"' : s;
  }

  function downloads(fig) {
    if (fig.querySelector(".downloads") || !window.Blob) return;
    var p = document.createElement("p"), name = (fig.dataset.id + "-" + fig.dataset.chart).replace(/[^\w.-]+/g, "_");
    p.className = "downloads";
    function button(text, act) {
      var b = document.createElement("button");
      b.type = "button"; b.className = "copy"; b.textContent = text;
      b.addEventListener("click", act);
      p.appendChild(b);
      p.appendChild(document.createTextNode(" "));
    }
    button("SVG", function () { offer(name + ".svg", "image/svg+xml", standing(fig.querySelector("svg"))); });
    button("CSV", function () {
      load(fig.dataset.shard).then(function () {
        var s = shards[fig.dataset.id][fig.dataset.chart], lines = [["series", "release", "value", "unit"]];
        s.option.series.forEach(function (one) {
          one.data.forEach(function (d, i) { var v = (d && d.value || d || [])[1]; if (v != null) lines.push([one.name, s.names[i], v, s.unit]); });
        });
        offer(name + ".csv", "text/csv", lines.map(function (l) { return l.map(cell).join(","); }).join("\n") + "\n");
      });
    });
    fig.insertBefore(p, fig.querySelector("figcaption"));
  }

  // point tells which value a link of the picture stands for: series in order, and in them values without those that are missing.
  function point(svg, series, link) {
    var groups = [].slice.call(svg.querySelectorAll("g.line")), g = groups.indexOf(link.parentNode), n = [].indexOf.call(g < 0 ? [] : groups[g].querySelectorAll("a"), link), at = -1;
    if (n < 0) return null;
    series[g].data.some(function (d, i) { if ((d && d.value || d || [])[1] != null && n-- === 0) at = i; return at >= 0; });
    return { seriesIndex: g, dataIndex: at };
  }

  function draw(fig) {
    var svg = fig.querySelector("svg"), box = svg.parentNode;
    Promise.all([load(fig.dataset.echarts), load(fig.dataset.shard)]).then(function () {
      var s = (shards[fig.dataset.id] || {})[fig.dataset.chart];
      if (!s || !window.echarts) return;
      var div = box.querySelector(".live") || document.createElement("div");
      div.className = "live"; div.setAttribute("aria-hidden", "true");
      box.appendChild(div);
      var width = svg.getBoundingClientRect().width, scale = width / s.w;
      var old = echarts.getInstanceByDom(div);
      if (old) old.dispose();
      var chart = echarts.init(div, null, { width: width, height: s.h * scale });
      chart.setOption(option(s, scale));
      chart.group = "page"; // zoom and the line at the pointer are shared between the charts of a page
      echarts.connect("page");
      chart.on("click", function (p) {
        var href = (s.links[p.seriesIndex] || [])[p.dataIndex];
        if (href) location.href = fig.dataset.root + href;
      });
      fig.classList.add("drawn");
      fig.ttchart = chart;
      if (live.indexOf(fig) >= 0) return;
      live.push(fig);
      // The keyboard goes from link to link of the picture below; the chart above says what each is.
      svg.addEventListener("focusin", function (e) {
        var at = point(svg, s.option.series, e.target);
        if (at) fig.ttchart.dispatchAction(Object.assign({ type: "showTip" }, at));
      });
      svg.addEventListener("focusout", function () { fig.ttchart.dispatchAction({ type: "hideTip" }); });
    }).catch(function () { /* the picture that is there stays */ });
  }

  document.addEventListener("DOMContentLoaded", function () {
    var button = document.getElementById("theme");
    function label() { button.textContent = "Theme: " + mode; }
    if (button) {
      button.hidden = false; label();
      button.addEventListener("click", function () {
        mode = modes[(modes.indexOf(mode) + 1) % 3];
        apply(mode); label(); live.forEach(draw);
        try { localStorage.setItem(key, mode); } catch (e) { /* the choice lasts this page */ }
      });
    }

    // Commands are copied as they stand.
    if (navigator.clipboard) document.querySelectorAll("pre").forEach(function (pre) {
      var b = document.createElement("button");
      b.type = "button"; b.className = "copy"; b.textContent = "Copy";
      b.addEventListener("click", function () {
        navigator.clipboard.writeText(pre.textContent.replace(/\n$/, "")).then(function () {
          b.textContent = "Copied";
          setTimeout(function () { b.textContent = "Copy"; }, 2000);
        });
      });
      pre.insertAdjacentElement("afterend", b);
    });

    // Ages are of the moment of reading: no page knows when it was made.
    document.querySelectorAll("[data-age]").forEach(function (e) {
      var h = (Date.now() - Date.parse(e.dataset.age)) / 36e5, n = Math.floor(h < 48 ? h : h / 24);
      if (h >= 1) e.textContent = "Newest run " + n + (h < 48 ? " hour" : " day") + (n === 1 ? "" : "s") + " old.";
      else if (h >= 0) e.textContent = "Newest run less than an hour old.";
    });

    // Sorting: a cell may carry data-v, its value with "worse" upwards. Not where rows are paragraphs.
    if (matchMedia("(min-width: 860px)").matches) document.querySelectorAll("th[data-sort]").forEach(function (th) {
      var b = document.createElement("button");
      while (th.firstChild) b.appendChild(th.firstChild);
      b.type = "button"; th.appendChild(b);
      b.addEventListener("click", function () {
        var col = th.cellIndex, dir = th.getAttribute("aria-sort") === "descending" ? 1 : -1, body = th.closest("table").tBodies[0];
        function val(r) { var c = r.cells[col], n = parseFloat(c.dataset.v); return isNaN(n) ? -Infinity : n; }
        [].slice.call(body.rows).sort(function (p, q) { return (val(p) < val(q) ? -1 : val(p) > val(q) ? 1 : 0) * dir; }).forEach(function (r) { body.appendChild(r); });
        th.parentNode.querySelectorAll("[aria-sort]").forEach(function (o) { o.removeAttribute("aria-sort"); });
        th.setAttribute("aria-sort", dir < 0 ? "descending" : "ascending");
      });
    });

    var figs = document.querySelectorAll("figure[data-chart]");
    figs.forEach(downloads);
    if (!figs.length || !window.IntersectionObserver) return;
    var seen = new IntersectionObserver(function (entries) {
      entries.forEach(function (e) { if (e.isIntersecting) { seen.unobserve(e.target); draw(e.target); } });
    }, { rootMargin: "100px" });
    figs.forEach(function (f) { seen.observe(f); });
    var timer;
    addEventListener("resize", function () { clearTimeout(timer); timer = setTimeout(function () { live.forEach(draw); }, 200); });
  });
})();
