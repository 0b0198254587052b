// The drawer: everything behind one number. Its address names the run, the point and the metric; the details of the run
// and the verdicts of its release are two scripts.
"use strict";
(function () {
  var { digits, el, button, copying, percent, count } = ttreport,
    box,
    opener,
    shown = "";

  function quantity(v, unit) {
    return digits(v) + (unit ? "\u202f" + unit : "");
  }

  // at is row i of a column that may be written as runs: {runs: [number, how often, …]}.
  function at(c, i) {
    if (!c || !c.runs) return c ? c[i] : undefined;
    for (var k = 0; k < c.runs.length; k += 2) {
      if (i < c.runs[k + 1]) return c.runs[k];
      i -= c.runs[k + 1];
    }
  }

  // rowOf finds the number in the table of its release.
  function rowOf(t, name, point, metric, score) {
    var run = t.runs.indexOf(name);
    for (var i = 0; run >= 0 && i < t.v.length; i++) {
      var m = t.metrics[at(t.m, i)];
      if (at(t.u, i) === run && at(t.o, i) === point && m.name === metric && !m.score === !score) return i;
    }
    return -1;
  }

  // textOf is what a cell or a head says, without what stands below it in small letters.
  function textOf(cell) {
    return cell ? [].filter.call(cell.childNodes, n => n.nodeName !== "SMALL").map(n => n.textContent).join("").trim() : "";
  }
  function belowOf(cell) {
    var small = cell && cell.querySelector("small");
    return small ? small.textContent : "";
  }
  function headsOf(row) {
    return [].slice.call(row.closest("table").tHead.rows[0].cells);
  }
  // under is the cell of a row that is in a column of this name.
  function under(row, head) {
    return row.cells[headsOf(row).findIndex(h => textOf(h) === head)];
  }

  // pointOf is a row of the points of a run with the column of a metric.
  function pointOf(page, where, metric) {
    var row = page.querySelector("#points #" + where),
      k = row ? headsOf(row).findIndex(h => h.dataset.m === metric) : -1;
    if (k < 0) return null;
    var cell = row.cells[k],
      head = headsOf(row)[k],
      stats = cell.matches(".absent") ? [] : belowOf(cell).split(", ").filter(Boolean).map(s => s.split(/ = | (?=\S+$)/)),
      same = [].filter.call(row.parentNode.rows, r => textOf(r.cells[0]) === textOf(row.cells[0]) && textOf(r.cells[1]) === textOf(row.cells[1]));
    return {
      row,
      label: textOf(head),
      unit: belowOf(head),
      workload: textOf(row.cells[0]),
      tool: textOf(row.cells[1]),
      value: textOf(cell),
      stats,
      conditions: textOf(under(row, "Conditions")),
      shared: page.querySelector("#points header p").textContent.split(" Of all points: ")[1] || "",
      repeats: same.map(r => textOf(r.cells[k]))
    };
  }

  // scoreOf is a row of the evals of a run.
  function scoreOf(page, where, metric) {
    var row = page.querySelector("#evals #" + where);
    if (!row || textOf(row.cells[1]) !== metric) return null;
    var facts = headsOf(row).map((h, i) => [textOf(h), (textOf(row.cells[i]) + " " + belowOf(row.cells[i])).trim()]);
    return {
      row, label: textOf(row.cells[0]) + " " + metric, unit: "", workload: "", tool: "", score: true, value: textOf(row.cells[3]), stats: [],
      conditions: "", shared: "", facts: facts.filter(f => f[1] && f[0] !== "File")
    };
  }

  function statistics(p) {
    if (p.facts) return p.facts;
    var rows = [[p.stats.length && p.value !== "–" ? "Mean, or the one value of the file" : "Value", p.value + "\u202f" + p.unit]];
    p.stats.forEach((s) => {
      rows.push(s[0] === "n" ? ["Requests", s[1]] : [s[0], s[1] + (p.unit ? "\u202f" + p.unit : "")]);
    });
    return rows;
  }

  // calculation is the arithmetic of the verdict, with its numbers.
  function calculation(t, i, m) {
    var c = t.c[i];
    if (c == null || m.score) return ""; // the sentence on a score has its numbers
    var ref = t.b && i in t.b ? t.b[i] : t.v[i] / (1 + c),
      plain = Math.abs(t.v[i] / (1 + c) / ref - 1) < 1e-4,
      h = t.h[i] == null ? null : t.h[i] / 1e4,
      n = at(t.k, i);
    return (
      (plain ? quantity(t.v[i], m.unit) + " / " + quantity(ref, m.unit) + " − 1 = " + percent(c) : percent(c) + " against " + quantity(ref, m.unit)) +
      (n ? ", the mean of " + count(n, "release") : "") +
      (h == null
        ? "; no test of its own"
        : "; 95\u202f% interval " + percent(Math.expm1(Math.log1p(c) - h)) + " to " + percent(Math.expm1(Math.log1p(c) + h))) +
      "; limit " +
      +(100 * m.effect).toPrecision(3) +
      "\u202f%."
    );
  }

  // picture shows the repeats against the baseline and its limit.
  function picture(values, ref, limit, higher, unit) {
    var all = values.concat(ref == null ? [] : [ref, limit]),
      lo = Math.min.apply(null, all),
      hi = Math.max.apply(null, all);
    if (all.length < 2 || !(hi > lo)) return null;
    function x(v) {
      return (12 + ((v - lo) / (hi - lo)) * 376).toFixed(1);
    }
    var said = count(values.length, "measurement") + " from " + digits(Math.min.apply(null, values)) + " to " + quantity(Math.max.apply(null, values), unit),
      against = ref == null ? "" : ", baseline " + digits(ref) + ", limit " + quantity(limit, unit),
      svg = ttreport.svg(400, 54, { class: "is-ink repeats", role: "img", "aria-label": said + against }),
      add = (tag, attrs, text) => ttreport.ink(svg, tag, attrs, text);
    add("path", { class: "ln", d: "M6 34H394" });
    if (ref != null) {
      add("path", { class: "ln", d: "M" + x(ref) + " 12V40" });
      add("path", { class: "limit", d: "M" + x(limit) + " 12V40", "stroke-dasharray": "4 3" });
      [["baseline", ref, 9], ["limit", limit, 50]].forEach((p) => {
        var end = x(p[1]) > 320;
        add("text", { x: x(p[1]), y: p[2], "text-anchor": end ? "end" : x(p[1]) < 60 ? "start" : "middle" }, p[0] + " " + digits(p[1]));
      });
    }
    values.forEach((v, i) => {
      add("circle", { class: "dot", cx: x(v), cy: 34 - (i % 3) * 7, r: 3 });
    });
    return svg;
  }

  // numberFrom reads a formatted number.
  function numberFrom(text) {
    return parseFloat(text.replace(/,/g, "").replace("−", "-"));
  }

  function facts(rows) {
    return el("table", { class: "facts" }, [
      el("tbody", {}, rows.map((r) => el("tr", {}, r.length > 1 ? [el("th", { scope: "row" }, r[0]), el("td", {}, r[1])] : el("th", { colspan: 2, scope: "colgroup", class: "from" }, r[0]))))
    ]);
  }

  // A part is a heading with nodes for the page and lines for markdown.
  function part(list, head, nodes, lines) {
    if (nodes.length) list.push({ head, nodes, lines });
  }

  // verdict says what became of the number: its word, the sentence where there is one, and the calculation.
  function verdict(parts, t, i) {
    if (i < 0) return;
    var m = t.metrics[at(t.m, i)],
      w = t.words[at(t.g, i)],
      word = (w.verdict + " " + (w.evidence || "")).trim(),
      say = [t.y && t.y[i], calculation(t, i, m)].filter(Boolean);
    if (w.verdict === "no-baseline" && !document.querySelector('.mast a[href*="releases/"]')) return; // nothing is judged
    if (!say.length) say = ["No earlier release has it."];
    part(
      parts,
      "Verdict",
      [el("p", {}, el("span", { class: "v " + w.verdict + " " + (w.evidence || "") }, [w.verdict, w.evidence ? " " : "", el("small", {}, w.evidence || "")]))].concat(
        say.map((s) => el("p", {}, s))
      ),
      ["**" + word + "**"].concat(say)
    );
  }

  function targets(parts, t, i) {
    var list = (i >= 0 && t.l && t.l[i]) || [];
    part(
      parts,
      "Targets",
      list.map((x) => el("p", {}, [
          el("span", { class: "v " + x.outcome }, x.outcome),
          " " + x.level + " " + x.limit + (x.required ? ", required. " : ". ") + x.why
        ])),
      list.map((x) => "- " + x.outcome + ": " + x.level + " " + x.limit + (x.required ? ", required" : ""))
    );
  }

  function repeats(parts, p, t, i) {
    var values = p.repeats.map(numberFrom).filter((v) => !isNaN(v)),
      m = i >= 0 ? t.metrics[at(t.m, i)] : null,
      c = i >= 0 ? t.c[i] : null,
      n = i >= 0 ? at(t.x, i) : 0,
      ref = c == null ? null : t.b && i in t.b ? t.b[i] : t.v[i] / (1 + c),
      limit = c == null ? null : ref * (m.higher ? 1 / (1 + m.effect) : 1 + m.effect),
      svg = values.length && picture(values, ref, limit, m && m.higher, p.unit),
      say =
        (values.length === 1 ? "Measured once in this run" : count(values.length, "repeat") + " in this run: " + p.repeats.join(", ")) +
        (n > 1 ? "; the release has the mean of " + n : "") +
        ".";
    part(parts, "Repeats", (svg ? [svg] : []).concat(el("p", { class: "more" }, say)), [say]);
  }

  // distribution is the picture over requests, where they were seen one by one.
  function distribution(parts, page, p) {
    var row = [].find.call(page.querySelectorAll("#distributions tbody tr"), r => textOf(r.cells[0]) === p.workload && textOf(r.cells[1]) === p.label),
      svg = row && row.querySelector("svg"),
      said = svg && svg.getAttribute("aria-label");
    if (svg) part(parts, "Distribution over requests", [svg, el("p", { class: "more" }, said)], [said]);
  }

  // course is what happened during the measurement: latencies, gauges of the server, power. They are the pictures of the
  // point's row.
  function course(parts, p) {
    var rows = headsOf(p.row)
      .map((h, k) => ({ name: textOf(h).replace(/ by time$/, ""), picture: p.row.cells[k].querySelector("svg"), range: belowOf(p.row.cells[k]) + "\u202f" + belowOf(h) }))
      .filter(r => r.picture);
    if (!rows.length) return;
    part(
      parts,
      "By time",
      [
        el("table", { class: "facts" }, el("tbody", {}, rows.map(r => el("tr", {}, [el("th", { scope: "row" }, r.name), el("td", {}, [r.picture, " ", el("small", {}, r.range)])])))),
        el("p", { class: "more" }, "Over " + textOf(under(p.row, "Over")) + "\u202fs, each line on a scale of its own.")
      ],
      rows.map(r => "- " + r.picture.getAttribute("aria-label"))
    );
  }

  function sources(parts, page, p) {
    var commands = page.querySelectorAll("#commands pre"),
      one = under(p.row, "Command"),
      line = !p.score && commands.length && (!one || +textOf(one)) ? commands[one ? +textOf(one) - 1 : 0].textContent : "",
      f = page.querySelector("#files #f" + (+textOf(under(p.row, "File")) || 1));
    if (!line && !p.score) part(parts, "Command", [el("p", {}, "No command is known here.")], ["none known"]);
    if (line) part(parts, "Command", [el("pre", { tabindex: "0" }, line)], ["```", line, "```"]);
    if (!f) return;
    var at = [].map.call(f.cells, textOf); // its number, file, format, tool, SHA-256
    part(
      parts,
      "Raw file",
      [facts([["File", at[1]], ["Format", at[2] + ", " + at[3]], ["SHA-256", at[4]]])],
      ["`" + at[1] + "`", "", "SHA-256 `" + at[4] + "`"]
    );
  }

  function provenance(parts, page) {
    // A source stands above what is known from it.
    var rows = [].map
      .call(page.querySelectorAll("#identity tbody tr"), r => [].map.call(r.cells, textOf))
      .filter(r => r[1] !== "unknown")
      .filter((r, i, all) => r.length > 1 || (all[i + 1] || []).length > 1);
    part(parts, "Provenance", rows.length ? [facts(rows)] : [], rows.map(r => (r.length > 1 ? "- " + r[0] + ": " + r[1] : "\n" + r[0] + "\n")));
  }

  function fill(root, page, t, name, where, metric, stat) {
    var score = where[0] === "e",
      number = +where.slice(1),
      p = (score ? scoreOf : pointOf)(page, where, metric);
    if (!p) return say(root, "Run " + name + " has no " + metric + (score ? " as its score " : " at point ") + number + ".");
    var of = stat && p.stats.find(s => s[0] === stat);
    if (stat && !of) return say(root, "Run " + name + " has no " + stat + " of " + metric + " at point " + number + ".");
    var i = stat ? -1 : rowOf(t, name, number, metric, score), // the table has the means
      crumbs = [].map.call(page.querySelectorAll(".crumb a"), a => el("a", { href: root + a.getAttribute("href").replace(/^(\.\.\/)+/, "") }, a.textContent)).slice(1),
      m = i >= 0 ? t.metrics[at(t.m, i)] : null,
      title = p.label + (stat ? " " + stat : "") + (p.workload ? " at " + p.workload : "") + (p.tool ? ", " + p.tool : ""),
      parts = [];
    verdict(parts, t, i);
    if (score) ;
    else if (!stat) repeats(parts, p, t, i);
    else part(parts, "Verdict", [el("p", {}, el("a", { href: crumbs[1] }, "The page of the release has the verdict on this " + stat))], []);
    part(parts, "Statistics", [facts(statistics(p))], statistics(p).map((r) => "- " + r.join(": ")));
    if (!score) {
      distribution(parts, page, p);
      course(parts, p);
    }
    targets(parts, t, i);
    var conditions = [p.conditions, p.shared.replace(/\.$/, "")].filter(Boolean).join(", ");
    if (conditions) part(parts, "Conditions", [el("p", {}, conditions)], [conditions]);
    sources(parts, page, p);
    provenance(parts, page);

    var own = root + "runs/index.html#" + name + "/" + where + "/" + encodeURIComponent(metric) + (stat ? "/" + stat : ""),
      value = (of ? of[1] : p.value) + (p.unit ? "\u202f" + p.unit : ""),
      better = m && m.score !== "unstated" ? (m.higher ? " Higher" : " Lower") + " is better." : "";
    function markdown() {
      var out = ["**" + title + ": " + value + "** · " + crumbs.map(a => a.textContent).join(" · "), ""];
      parts.forEach((x) => {
        out = out.concat("### " + x.head, "", x.lines, "");
      });
      return out.concat("[" + name + (score ? ", score " : ", point ") + number + "](" + own + ")").join("\n") + "\n";
    }
    var body = [
      el("p", {}, crumbs.flatMap((a, k) => (k ? [" · ", a] : [a]))),
      el("p", { class: "big" }, value),
      el("p", { class: "more" }, "In run " + name + "." + better)
    ];
    parts.forEach((x) => {
      body = body.concat(el("h3", {}, x.head), x.nodes);
    });
    body.push(el("h3", {}, "Address"), el("p", { class: "id" }, location.hash));
    body.push(el("p", {}, [copying("Copy link", () => location.href), " ", copying("Copy as markdown", markdown)]));
    put(own, title, body);
    box.querySelectorAll("pre").forEach(ttreport.copyable);
  }

  function put(own, title, body) {
    var top = el("p", { class: "top" }, [own ? el("a", { href: own.replace(/(#[^/]*\/[pe]\d+).*/, "$1") }, "Open the run") : "", button("Close", close)]);
    box.textContent = "";
    [top, el("h2", { id: "drawer-title" }, title)].concat(body).forEach((n) => {
      box.appendChild(n);
    });
  }
  function say(root, text) {
    put("", "No such number", [el("p", {}, text)]);
  }

  // show opens the number that the address names; focus comes back to what opened it.
  function show(root, name, number, metric, stat, from) {
    var key = [name, number, metric, stat].join("/");
    if (box && shown === key) return;
    shown = key;
    if (!box) {
      box = el("aside", { class: "drawer", tabindex: "-1", "aria-labelledby": "drawer-title" });
      document.body.insertBefore(box, document.querySelector(".foot"));
      opener = from || document.activeElement;
    }
    put("", "Loading …", []);
    ttreport
      .run(root, name, true)
      .then((found) => {
        if (shown !== key || !box) return;
        if (found.page) fill(root, found.page, ttreport.data("release " + found.release.name), name, number, metric, stat);
        else say(root, found.why);
      })
      .catch(() => {
        if (box) say(root, "The number could not be loaded: data/shards/ belongs to the site.");
      });
    box.focus();
  }

  function hide() {
    if (!box) return;
    box.remove();
    box = null;
    shown = "";
    if (opener && opener.isConnected) opener.focus();
  }

  // close leaves the address as it was before.
  function close() {
    if (history.state && history.state.drawer) return history.back();
    history.replaceState(null, "", location.pathname + location.search);
    hide();
  }

  document.addEventListener("keydown", (e) => {
    if (e.key === "Escape" && box) close();
  });
  ttreport.drawer = { show, hide };
})();
