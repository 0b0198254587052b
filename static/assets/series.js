// What the explorer and the comparison share: small elements, the choice in the address, and a table of many rows of
// which only those in sight exist.
"use strict";
(function () {
  var narrow = matchMedia("(max-width: 859px)"),
    LEVELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

  var { digits, el, count, percent, signed } = ttreport;
  // change is that of a number in percent, of a share in points: a score may be zero. Other scores have their own unit.
  function change(m, c) {
    if (!m.score) return percent(c);
    return m.scale ? signed(c, "pp") : (c < 0 ? "−" : c > 0 ? "+" : "±") + digits(Math.abs(c));
  }

  // called has what builds measured whose names do not say so.
  var called = {};
  document.querySelectorAll("[data-release][title]").forEach(s => (called[s.dataset.release] = s.title));
  function select(label, name, list, any) {
    var options = list.map(x => el("option", { value: x }, called[x] || x || "none")),
      s = el("select", { name }, (any ? [el("option", { value: "" }, any)] : []).concat(options));
    return { box: el("label", {}, [label, s]), input: s };
  }
  function sorted(list) {
    return list
      .filter((x, i) => list.indexOf(x) === i)
      .sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  }

  // view shows rows of a table as far as they are in sight. cols are {head, num, cell(i), sort(i)}; cell makes what a
  // cell holds.
  function view(caption, cols, onSort) {
    var heads = cols.map((c, k) => {
      var th = el("th", { scope: "col", role: "columnheader", class: c.num ? "n" : null });
      if (c.sort) {
        var b = el("button", { type: "button" }, c.head);
        b.addEventListener("click", () => {
          onSort(k);
        });
        th.appendChild(b);
      } else th.appendChild(document.createTextNode(c.head));
      return th;
    });
    var top = el("tr", { "aria-hidden": "true" }, el("td", { colspan: cols.length, class: "gap" }));
    var end = el("tr", { "aria-hidden": "true" }, el("td", { colspan: cols.length, class: "gap" }));
    var body = el("tbody", { role: "rowgroup" }, [top, end]);
    var table = el("table", { class: "rows", role: "table" }, [
      el("caption", { class: "vh" }, caption),
      el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, heads)),
      body
    ]);
    var box = el("div", { class: "tw scroll", tabindex: "0", role: "region", "aria-label": caption }, table);
    var order = [],
      from = -1,
      to = -1;
    function paint(force) {
      var ROW = narrow.matches ? 112 : 34, // as in the style
        first = Math.max(0, Math.floor(box.scrollTop / ROW) - 8),
        last = Math.min(order.length, first + Math.ceil((0.7 * innerHeight) / ROW) + 14);
      if (!force && first === from && last === to) return;
      from = first;
      to = last;
      while (top.nextSibling !== end) body.removeChild(top.nextSibling);
      var rows = document.createDocumentFragment();
      for (var n = first; n < last; n++)
        rows.appendChild(
          el(
            "tr",
            { "aria-rowindex": n + 2, role: "row" },
            cols.map((c, k) => {
              var v = c.cell(order[n]);
              return el(k === 1 ? "th" : "td", { scope: k === 1 ? "row" : null, role: k === 1 ? "rowheader" : "cell", class: c.num ? "n" : null, "data-l": c.num && c.head }, v);
            })
          )
        );
      body.insertBefore(rows, end);
      top.firstChild.style.height = first * ROW + "px";
      end.firstChild.style.height = (order.length - last) * ROW + "px";
    }
    box.addEventListener("scroll", () => requestAnimationFrame(() => paint(false)));
    return {
      box,
      show (list, sortCol, down) {
        order = list;
        table.setAttribute("aria-rowcount", list.length + 1);
        heads.forEach((h, k) => {
          if (k === sortCol) h.setAttribute("aria-sort", down ? "descending" : "ascending");
          else h.removeAttribute("aria-sort");
        });
        box.scrollTop = 0;
        paint(true);
      },
      again () {
        paint(true);
      }
    };
  }

  function on(p) {
    return p.model + " on " + p.device;
  }
  function verdictName(w) {
    return w.verdict.replace("below-", "below the ").replace("-", " ") + (w.since ? " since " + w.since : w.evidence ? " " + w.evidence : "");
  }
  function verdict(w) {
    return el("span", { class: "v " + w.verdict + (w.evidence ? " " + w.evidence : "") }, verdictName(w) || "–");
  }
  function spark(s) {
    var d = "",
      pen = false,
      last = null,
      step = s.length > 1 ? 108 / (s.length - 1) : 0;
    for (var i = 0; i < s.length; i++) {
      var v = LEVELS.indexOf(s[i]);
      if (v < 0) {
        pen = false;
        continue;
      }
      last = [(4 + i * step).toFixed(1), (24 - (v / 63) * 20).toFixed(1)];
      d += (pen ? "L" : "M") + last[0] + " " + last[1];
      pen = true;
    }
    var svg = ttreport.svg(116, 28, { class: "is-ink", "aria-hidden": "true" });
    if (d.indexOf("L") > 0) ttreport.ink(svg, "path", { class: "ln", d });
    if (last) ttreport.ink(svg, "circle", { class: "dot", cx: last[0], cy: last[1], r: 2.5 });
    return svg;
  }

  // whole is a table whose columns all have a value a row: in the file, one that repeats its numbers often is
  // {runs: [number, how often, …]}.
  function whole(t) {
    t.releases = t.releases || [];
    t.channels = t.channels || [];
    t.conds = t.conds || [];
    t.setups = t.setups || {};
    [..."piwtmgnruoxke"].forEach((k) => {
      if (!t[k] || !t[k].runs) return;
      var all = [];
      for (var i = 0; i < t[k].runs.length; i += 2) for (var n = t[k].runs[i + 1]; n > 0; n--) all.push(t[k].runs[i]);
      t[k] = all;
    });
    return t;
  }

  // address is where a number of a table is: its run, its point, its metric.
  function address(root, t, i) {
    if (!(t.u && t.u[i] >= 0)) return "";
    return root + "runs/index.html#" + t.runs[t.u[i]] + (t.metrics[t.m[i]].score ? "/e" : "/p") + t.o[i] + "/" + encodeURIComponent(t.metrics[t.m[i]].name);
  }
  // number is the value of a row with a link to what is behind it.
  function number(root, t, i) {
    var to = address(root, t, i);
    return to ? el("a", { href: to }, digits(t.v[i])) : digits(t.v[i]);
  }

  window.ttreport.series = { LEVELS, number, whole, percent, change, count, select, sorted, view, on, verdictName, verdict, spark };
})();
