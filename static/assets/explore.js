// The explorer of all series and the comparison of any two releases: both filter a table of columns and show the rows in view.
"use strict";
(function () {
  var glyph = {
    "regressed": "▽", "regressed confirmed": "▼", "improved": "△", "improved confirmed": "▲", "recovered": "↺", "unchanged": "=",
    "inconclusive": "?", "no-baseline": "…", "not-comparable": "≠", "missing": "□", "excluded": "⊘"
  };
  var ROW = 34, LEVELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

  function el(tag, attrs, kids) {
    var e = document.createElement(tag);
    for (var k in attrs || {}) if (attrs[k] != null) e.setAttribute(k, attrs[k]);
    [].concat(kids == null ? [] : kids).forEach(function (c) { e.appendChild(typeof c === "object" ? c : document.createTextNode(c)); });
    return e;
  }
  function digits(v) {
    var a = Math.abs(v);
    if (a >= 999.5) return Math.round(v).toLocaleString("en-US");
    return v.toPrecision(3).indexOf("e") < 0 ? v.toPrecision(3).replace("-", "−") : String(v);
  }
  function percent(c) {
    var s = Math.abs(c * 100).toFixed(1);
    return (s === "0.0" ? "±" : c < 0 ? "−" : "+") + s + "\u202f%";
  }
  function count(n, noun) { return n.toLocaleString("en-US") + " " + noun + (n === 1 ? "" : "s"); }

  // The address holds what was chosen, so that a link shows the same and back undoes it.
  function read() {
    var o = {};
    location.hash.slice(1).split("&").forEach(function (p) {
      var i = p.indexOf("=");
      if (i > 0) try { o[p.slice(0, i)] = decodeURIComponent(p.slice(i + 1)); } catch (e) { /* a broken address says nothing */ }
    });
    return o;
  }
  function write(o, push) {
    var parts = [];
    for (var k in o) if (o[k]) parts.push(k + "=" + encodeURIComponent(o[k]));
    var to = parts.length ? "#" + parts.join("&") : location.pathname + location.search;
    if (("#" + parts.join("&")) !== (location.hash || "#")) history[push ? "pushState" : "replaceState"](null, "", to);
  }

  function select(label, name, list, any) {
    var s = el("select", { name: name }, (any ? [el("option", { value: "" }, any)] : []).concat(list.map(function (x) { return el("option", { value: x }, x || "none"); })));
    return { box: el("label", {}, [label, s]), input: s };
  }
  function sorted(list) {
    return list.filter(function (x, i) { return list.indexOf(x) === i; }).sort(function (a, b) { return a.localeCompare(b, "en", { numeric: true }); });
  }

  // view shows rows of a table as far as they are in sight. cols are {head, num, text(i), sort(i)}; link(i) is a row's page.
  function view(caption, cols, onSort) {
    var heads = cols.map(function (c, k) {
      var th = el("th", { scope: "col", class: c.num ? "n" : null });
      if (c.sort) {
        var b = el("button", { type: "button" }, c.head);
        b.addEventListener("click", function () { onSort(k); });
        th.appendChild(b);
      } else th.appendChild(document.createTextNode(c.head));
      return th;
    });
    var top = el("tr", { "aria-hidden": "true" }, el("td", { colspan: cols.length, class: "gap" }));
    var end = el("tr", { "aria-hidden": "true" }, el("td", { colspan: cols.length, class: "gap" }));
    var body = el("tbody", {}, [top, end]);
    var table = el("table", { class: "rows" }, [el("caption", { class: "vh" }, caption), el("thead", {}, el("tr", {}, heads)), body]);
    var box = el("div", { class: "tw scroll", tabindex: "0", role: "region", "aria-label": caption }, table);
    var order = [], from = -1, to = -1;
    function paint(force) {
      var first = Math.max(0, Math.floor(box.scrollTop / ROW) - 8), last = Math.min(order.length, first + Math.ceil(box.clientHeight / ROW) + 16);
      if (!force && first === from && last === to) return;
      from = first; to = last;
      while (top.nextSibling !== end) body.removeChild(top.nextSibling);
      var rows = document.createDocumentFragment();
      for (var n = first; n < last; n++) rows.appendChild(el("tr", { "aria-rowindex": n + 2 }, cols.map(function (c, k) {
        var v = c.cell(order[n]);
        return el(k === 1 ? "th" : "td", { scope: k === 1 ? "row" : null, class: c.num ? "n" : null }, v);
      })));
      body.insertBefore(rows, end);
      top.firstChild.setAttribute("height", first * ROW);
      end.firstChild.setAttribute("height", (order.length - last) * ROW);
    }
    box.addEventListener("scroll", function () { requestAnimationFrame(function () { paint(false); }); });
    return {
      box: box,
      show: function (list, sortCol, down) {
        order = list;
        table.setAttribute("aria-rowcount", list.length + 1);
        heads.forEach(function (h, k) { if (k === sortCol) h.setAttribute("aria-sort", down ? "descending" : "ascending"); else h.removeAttribute("aria-sort"); });
        box.scrollTop = 0;
        paint(true);
      },
      again: function () { paint(true); }
    };
  }

  function on(p) { return p.model + " on " + p.device; }
  function verdictName(w) { return w.verdict + (w.evidence ? " " + w.evidence : ""); }
  function verdict(w) {
    var name = verdictName(w), g = glyph[name] || glyph[w.verdict] || "";
    return el("span", { class: "w " + w.verdict }, [el("span", { "aria-hidden": "true" }, g + " "), name || "–"]);
  }
  function spark(s) {
    var d = "", pen = false, last = null, step = s.length > 1 ? 108 / (s.length - 1) : 0;
    for (var i = 0; i < s.length; i++) {
      var v = LEVELS.indexOf(s[i]);
      if (v < 0) { pen = false; continue; }
      last = [(4 + i * step).toFixed(1), (24 - v / 63 * 20).toFixed(1)];
      d += (pen ? "L" : "M") + last[0] + " " + last[1];
      pen = true;
    }
    var ns = "http://www.w3.org/2000/svg", svg = document.createElementNS(ns, "svg");
    svg.setAttribute("class", "is-ink"); svg.setAttribute("width", 116); svg.setAttribute("height", 28); svg.setAttribute("viewBox", "0 0 116 28"); svg.setAttribute("aria-hidden", "true");
    function add(tag, a) { var e = document.createElementNS(ns, tag); for (var k in a) e.setAttribute(k, a[k]); svg.appendChild(e); }
    if (d.indexOf("L") > 0) add("path", { "class": "ln", d: d });
    if (last) add("circle", { "class": "dot", cx: last[0], cy: last[1], r: 2.5 });
    return svg;
  }

  function explore(root, host, t) {
    var pairName = t.pairs.map(function (p) { return on(p); });
    var text = { w: t.workloads, m: t.metrics.map(function (m) { return m.label; }), t: t.tools, p: pairName, i: t.impls, g: t.words.map(verdictName) };
    var q = el("input", { type: "search", name: "q", placeholder: "model, device, 2048/128, TTFT …", autocomplete: "off" });
    var f = {
      model: select("Model", "model", sorted(t.pairs.map(function (p) { return p.model; })), "any"), device: select("Device", "device", sorted(t.pairs.map(function (p) { return p.device; })), "any"),
      metric: select("Metric", "metric", sorted(text.m), "any"), workload: select("Workload", "workload", sorted(t.workloads), "any"), verdict: select("Verdict", "verdict", sorted(text.g), "any")
    };
    var said = el("p", { class: "more", role: "status" });
    var state = read();
    var cols = [
      { head: "Verdict", cell: function (i) { return verdict(t.words[t.g[i]]); }, sort: function (i) { return i; } },
      { head: "Model on device", cell: function (i) { var p = t.pairs[t.p[i]]; return el("a", { href: root + p.page }, pairName[t.p[i]]); }, sort: function (i) { return pairName[t.p[i]]; }, dict: "p" },
      { head: "Workload", cell: function (i) { return [t.workloads[t.w[i]], el("small", {}, [t.tools[t.t[i]], t.impls[t.i[i]]].filter(Boolean).join(" · "))]; }, sort: true, dict: "w" },
      { head: "Metric", cell: function (i) { var m = t.metrics[t.m[i]]; return [m.label, el("small", {}, m.unit)]; }, sort: true, dict: "m" },
      { head: "Value", num: true, cell: function (i) { return digits(t.v[i]); }, sort: function (i) { return t.v[i]; } },
      { head: "Change", num: true, worst: true, cell: function (i) { return t.c[i] == null ? "–" : percent(t.c[i]); }, sort: function (i) { var m = t.metrics[t.m[i]]; return t.c[i] == null ? -1e9 : m.higher ? -t.c[i] : t.c[i]; } },
      { head: "Release", cell: function (i) { return t.releases[t.r[i]]; }, sort: true, dict: "r" },
      { head: "History", cell: function (i) { return spark(t.s[i]); } }
    ];
    var v = view("Series", cols, function (k) {
      state = read();
      var down = state.sort === cols[k].head ? state.dir !== "down" : !!cols[k].worst; // a change is asked for worst first
      state.sort = cols[k].head; state.dir = down ? "down" : "";
      write(state, true); apply();
    });
    // rank of every row by a column, made when it is first asked for: sorting then compares small numbers.
    var ranks = {};
    function rank(k) {
      if (ranks[k]) return ranks[k];
      var c = cols[k], n = t.v.length, keys = new Float64Array(n);
      if (c.dict) {
        var list = c.dict === "r" ? t.releases : text[c.dict], by = list.map(function (_, i) { return i; });
        if (c.dict !== "r") by.sort(function (a, b) { return list[a].localeCompare(list[b], "en", { numeric: true }); });
        var at = []; by.forEach(function (i, place) { at[i] = place; });
        for (var i = 0; i < n; i++) keys[i] = at[t[c.dict][i]];
      } else for (var j = 0; j < n; j++) keys[j] = c.sort(j);
      return (ranks[k] = keys);
    }
    function apply() {
      state = read();
      q.value = state.q || "";
      for (var k in f) { f[k].input.value = state[k] || ""; if (f[k].input.selectedIndex < 0) f[k].input.value = ""; }
      var words = (state.q || "").toLowerCase().split(/\s+/).filter(Boolean), n = t.v.length, out = new Uint32Array(n), found = 0;
      // A word is looked for in each list once; a row then asks small tables.
      var hits = words.map(function (w) {
        var o = {};
        for (var d in text) o[d] = Uint8Array.from(text[d], function (s) { return s.toLowerCase().indexOf(w) >= 0 ? 1 : 0; });
        return o;
      });
      var keep = {
        p: Uint8Array.from(t.pairs, function (p) { return (!state.model || p.model === state.model) && (!state.device || p.device === state.device) ? 1 : 0; }),
        m: Uint8Array.from(text.m, function (s) { return !state.metric || s === state.metric ? 1 : 0; }),
        w: Uint8Array.from(t.workloads, function (s) { return !state.workload || s === state.workload ? 1 : 0; }),
        g: Uint8Array.from(text.g, function (s) { return !state.verdict || s === state.verdict ? 1 : 0; })
      };
      for (var i = 0; i < n; i++) {
        if (!(keep.p[t.p[i]] && keep.m[t.m[i]] && keep.w[t.w[i]] && keep.g[t.g[i]])) continue;
        var all = true;
        for (var h = 0; h < hits.length && all; h++) {
          var o = hits[h];
          all = o.p[t.p[i]] || o.w[t.w[i]] || o.m[t.m[i]] || o.t[t.t[i]] || o.i[t.i[i]] || o.g[t.g[i]];
        }
        if (all) out[found++] = i;
      }
      out = out.subarray(0, found);
      var col = cols.findIndex(function (c) { return c.sort && c.head === state.sort; }), down = state.dir === "down";
      if (col > 0 || down) {
        var keys = rank(Math.max(0, col)), sign = down ? -1 : 1;
        out.sort(function (a, b) { return (keys[a] - keys[b]) * sign || a - b; });
      }
      said.textContent = found.toLocaleString("en-US") + " series of " + n.toLocaleString("en-US") + (found ? "" : ": nothing matches; take a filter away");
      v.show(out, col < 0 ? 0 : col, down);
    }
    var timer;
    q.addEventListener("input", function () { clearTimeout(timer); timer = setTimeout(function () { state = read(); state.q = q.value; write(state, false); apply(); }, 60); });
    for (var k in f) f[k].input.addEventListener("change", function (e) { state = read(); state[e.target.name] = e.target.value; write(state, true); apply(); });
    addEventListener("popstate", apply);
    addEventListener("hashchange", apply);
    host.textContent = "";
    host.appendChild(el("form", { class: "filters", role: "search" }, [el("label", {}, ["Text", q])].concat(Object.keys(f).map(function (k) { return f[k].box; }))));
    host.firstChild.addEventListener("submit", function (e) { e.preventDefault(); });
    host.appendChild(said); host.appendChild(v.box);
    apply();
    addEventListener("resize", v.again);
  }

  function compare(root, host) {
    var shardOf = {}, names = [];
    host.querySelectorAll("[data-release]").forEach(function (s) { shardOf[s.dataset.release] = s.dataset.shard; names.unshift(s.dataset.release); });
    var sides = ["a", "b"].map(function (id) {
      var parts = { release: select("Release", id + "release", names), model: select("Model", id + "model", [], "any"), device: select("Device", id + "device", [], "any"), tool: select("Tool", id + "tool", [], "any") };
      return { id: id, parts: parts, box: el("fieldset", {}, [el("legend", {}, id.toUpperCase())].concat(Object.keys(parts).map(function (k) { return parts[k].box; }))) };
    });
    var said = el("p", { class: "more", role: "status" }), rows = [], sortBy = 6, down = true, missing = "";
    var cols = [
      { head: "Metric", cell: function (r) { return [r.m.label, el("small", {}, r.m.unit + ", " + (r.m.higher ? "higher" : "lower") + " is better")]; }, sort: function (r) { return r.m.label; } },
      { head: "Workload", cell: function (r) { return r.workload; }, sort: function (r) { return r.workload; } },
      { head: "Where", cell: function (r) { return r.page ? el("a", { href: root + r.page }, r.where) : r.where; }, sort: function (r) { return r.where; } },
      { head: "Tool", cell: function (r) { return r.tool; }, sort: function (r) { return r.tool; } },
      { head: "A", num: true, cell: function (r) { return digits(r.a); }, sort: function (r) { return r.a; } },
      { head: "B", num: true, cell: function (r) { return digits(r.b); }, sort: function (r) { return r.b; } },
      { head: "Change", num: true, cell: function (r) { return r.unlike ? el("span", { class: "w not-comparable" }, "≠ " + r.unlike) : el("span", { class: r.far ? r.bad > 0 ? "w regressed" : "w improved" : null }, percent(r.change) + (r.far ? r.bad > 0 ? " regressed" : " improved" : "")); }, sort: function (r) { return r.bad; } }
    ];
    var v = view("Differences", cols, function (k) { down = sortBy === k ? !down : k === 6; sortBy = k; order(); });
    function order() {
      var key = cols[sortBy].sort, sign = down ? -1 : 1;
      rows.sort(function (x, y) {
        var p = key(x), s = key(y);
        return (typeof p === "string" ? p.localeCompare(s, "en", { numeric: true }) : p - s) * sign;
      });
      v.show(rows, sortBy, down);
    }
    function fill(part, list, chosen) {
      var s = part.input;
      while (s.options.length > 1) s.remove(1);
      sorted(list).forEach(function (x) { s.appendChild(el("option", { value: x }, x || "none")); });
      s.value = chosen || "";
      if (s.selectedIndex < 0) s.value = "";
      return s.value;
    }
    function apply() {
      var state = read();
      missing = sides.map(function (s) { var name = state[s.id + "release"]; return name && !shardOf[name] ? " The address names release " + name + ", which is not here; another is shown." : ""; }).join("");
      var want = sides.map(function (s) { return shardOf[state[s.id + "release"]] ? state[s.id + "release"] : host.dataset[s.id] || names[s.id === "a" ? Math.min(1, names.length - 1) : 0]; });
      Promise.all(want.map(function (name) { return ttreport.load(root + shardOf[name]); })).then(function () {
        var tables = want.map(function (name) { return ttreport.data("release " + name); });
        var chosen = sides.map(function (s, n) {
          var t = tables[n];
          s.parts.release.input.value = want[n];
          return { model: fill(s.parts.model, t.pairs.map(function (p) { return p.model; }), state[s.id + "model"]), device: fill(s.parts.device, t.pairs.map(function (p) { return p.device; }), state[s.id + "device"]), tool: fill(s.parts.tool, t.tools, state[s.id + "tool"]) };
        });
        join(tables, chosen);
      }, function () { said.textContent = "The numbers of a release could not be loaded: data/shards/ belongs to the site."; });
    }
    // What both sides choose and choose differently is what is compared; everything else must be the same.
    function join(tables, chosen) {
      var differs = {};
      ["model", "device", "tool"].forEach(function (k) { differs[k] = chosen[0][k] && chosen[1][k] && chosen[0][k] !== chosen[1][k]; });
      var sideRows = tables.map(function (t, n) {
        var c = chosen[n], map = new Map(), twice = 0;
        for (var i = 0; i < t.v.length; i++) {
          var p = t.pairs[t.p[i]], tool = t.tools[t.t[i]], m = t.metrics[t.m[i]];
          if (c.model && p.model !== c.model || c.device && p.device !== c.device || c.tool && tool !== c.tool) continue;
          var key = [differs.model ? "" : p.model, differs.device ? "" : p.device, t.impls[t.i[i]], t.workloads[t.w[i]], differs.tool ? "" : tool, m.name, m.label].join("\n");
          if (map.has(key)) { twice++; map.get(key).twice = true; } else map.set(key, { v: t.v[i], p: p, tool: tool, w: t.workloads[t.w[i]], m: m, n: t.conds[t.n[i]] || {} });
        }
        return map;
      });
      rows = [];
      var only = [0, 0], ambiguous = 0, regressed = 0, improved = 0, unlike = 0;
      sideRows[0].forEach(function (a, key) {
        var b = sideRows[1].get(key);
        if (!b) { only[0]++; return; }
        if (a.twice || b.twice) { ambiguous++; return; }
        var other = Object.keys(a.n).filter(function (k) { return k in b.n && b.n[k] !== a.n[k] && !(k === "client" && differs.tool); });
        var change = a.v ? b.v / a.v - 1 : 0, bad = a.m.higher ? -change : change, far = Math.abs(change) >= a.m.effect;
        if (other.length) { unlike++; far = false; bad = -1e9; } else if (far) if (bad > 0) regressed++; else improved++;
        var where = differs.model || differs.device ? on(a.p) + " → " + on(b.p) : on(a.p);
        rows.push({ m: a.m, workload: a.w, where: where, page: differs.model || differs.device ? "" : a.p.page, tool: differs.tool ? a.tool + " → " + b.tool : a.tool, a: a.v, b: b.v, change: change, bad: bad, far: far, unlike: other.map(function (k) { return k + " " + a.n[k] + " → " + b.n[k]; }).join(", ") });
      });
      sideRows[1].forEach(function (_, key) { if (!sideRows[0].has(key)) only[1]++; });
      said.textContent = rows.length ? count(rows.length, "number") + " on both sides: " + regressed.toLocaleString("en-US") + " regressed and " + improved.toLocaleString("en-US") + " improved by more than the limit; " + only[0].toLocaleString("en-US") + " only in A, " + only[1].toLocaleString("en-US") + " only in B" + (ambiguous ? "; " + count(ambiguous, "number") + " measured in several ways left out" : "") + (unlike ? "; " + unlike.toLocaleString("en-US") + " not comparable, because conditions differ" : "") + "." + missing
        : "Nothing was measured on both sides: " + (sideRows[0].size ? sideRows[1].size ? "workloads, metrics and what is not chosen must be the same." : "B has no number." : "A has no number.") + missing;
      order();
    }
    sides.forEach(function (s) {
      for (var k in s.parts) s.parts[k].input.addEventListener("change", function (e) { var state = read(); state[e.target.name] = e.target.value; write(state, true); apply(); });
    });
    addEventListener("popstate", apply);
    addEventListener("hashchange", apply);
    host.textContent = "";
    host.appendChild(el("form", { class: "filters" }, sides.map(function (s) { return s.box; })));
    host.appendChild(said); host.appendChild(v.box);
    apply();
    addEventListener("resize", v.again);
  }

  document.addEventListener("DOMContentLoaded", function () {
    document.querySelectorAll("[data-widget]").forEach(function (host) {
      var root = host.dataset.root;
      if (host.dataset.widget === "compare") { compare(root, host); return; }
      ttreport.load(root + host.dataset.shard).then(function () { explore(root, host, ttreport.data("explore")); }, function () { host.querySelector("p").textContent = "The numbers could not be loaded: data/shards/explore.js belongs to the site."; });
    });
  });
})();
