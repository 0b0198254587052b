// The drawer: everything behind one number. Its address names the run, the point and the metric; the details of the run
// and the verdicts of its release are two scripts.
"use strict";
(function () {
  var paint = ttreport.painter,
    el = paint.el,
    digits = ttreport.digits,
    box,
    opener,
    shown = "";

  function percent(c) {
    var s = Math.abs(c * 100).toFixed(1);
    return (s === "0.0" ? "±" : c < 0 ? "−" : "+") + s + "\u202f%";
  }
  function quantity(v, unit) {
    return digits(v) + (unit ? "\u202f" + unit : "");
  }
  function plural(n, noun) {
    return n + " " + noun + (n === 1 ? "" : "s");
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

  function sectionOf(page, S, id) {
    return (page[8] || []).filter(function (s) {
      return S(s[0]) === id;
    })[0];
  }
  function tableOf(section) {
    return ((section && section[3]) || []).filter(function (b) {
      return b[0] === "table";
    })[0];
  }
  function textOf(c, S) {
    return S(c && typeof c === "object" ? c.t : c);
  }

  // point is the row of a run's table with the column of a metric.
  function pointOf(file, page, S, number, metric) {
    var section = sectionOf(page, S, "points"),
      t = tableOf(section),
      cols = t && file.columns[t[3]],
      row = t && t[4][number - 1],
      k = cols
        ? cols.findIndex(function (c) {
            return S(c[6]) === metric;
          })
        : -1;
    if (!row || k < 0) return null;
    var parts = textOf(row[k], S).split("|"),
      same = t[4].filter(function (r) {
        return textOf(r[0], S) === textOf(row[0], S) && textOf(r[1], S) === textOf(row[1], S);
      });
    function named(head) {
      var i = cols.findIndex(function (c) {
        return S(c[0]) === head;
      });
      return i < 0 ? "" : textOf(row[i], S);
    }
    return {
      label: S(cols[k][0]),
      unit: S(cols[k][1]),
      workload: textOf(row[0], S),
      tool: textOf(row[1], S),
      value: parts[0],
      names: S(cols[k][4]).split("|"),
      stats: parts.slice(1),
      conditions: named("Conditions"),
      shared: S(section[2]).split(" Of all points: ")[1] || "",
      file: +named("File") || 1,
      repeats: same.map(function (r) {
        return textOf(r[k], S).split("|")[0];
      })
    };
  }

  // scoreOf is the row of a run's table of evals.
  function scoreOf(file, page, S, number, metric) {
    var t = tableOf(sectionOf(page, S, "evals")),
      cols = t && file.columns[t[3]],
      row = t && t[4][number - 1];
    if (!row || textOf(row[1], S) !== metric) return null;
    var facts = cols
      .map(function (c, i) {
        return [S(c[0]), textOf(row[i], S) + (row[i] && row[i].s ? " " + S(row[i].s) : "")];
      })
      .filter(function (f) {
        return f[1] && f[0] !== "File";
      });
    return {
      label: textOf(row[0], S) + " " + metric, unit: "", workload: "", tool: "", score: true, value: textOf(row[3], S), names: [], stats: [],
      conditions: "", shared: "", facts: facts, file: (S(cols[cols.length - 1][0]) === "File" && +textOf(row[row.length - 1], S)) || 1
    };
  }

  function statistics(p) {
    if (p.facts) return p.facts;
    var rows = [[p.stats.length && p.value !== "–" ? "Mean, or the one value of the file" : "Value", p.value + "\u202f" + p.unit]];
    p.names.forEach(function (name, i) {
      if (p.stats[i]) rows.push([name === "n" ? "Requests" : name, p.stats[i] + (name === "n" || !p.unit ? "" : "\u202f" + p.unit)]);
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
      (n ? ", the mean of " + plural(n, "release") : "") +
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
      hi = Math.max.apply(null, all),
      ns = "http://www.w3.org/2000/svg",
      svg = document.createElementNS(ns, "svg");
    if (all.length < 2 || !(hi > lo)) return null;
    function x(v) {
      return (12 + ((v - lo) / (hi - lo)) * 376).toFixed(1);
    }
    function add(tag, attrs, text) {
      var e = svg.appendChild(document.createElementNS(ns, tag));
      for (var k in attrs) e.setAttribute(k, attrs[k]);
      if (text) e.textContent = text;
    }
    svg.setAttribute("viewBox", "0 0 400 54");
    svg.setAttribute("class", "is-ink repeats");
    svg.setAttribute("role", "img");
    svg.setAttribute(
      "aria-label",
      plural(values.length, "measurement") + " from " + digits(Math.min.apply(null, values)) + " to " + quantity(Math.max.apply(null, values), unit) +
        (ref == null ? "" : ", baseline " + digits(ref) + ", limit " + quantity(limit, unit))
    );
    add("path", { class: "ln", d: "M6 34H394" });
    if (ref != null) {
      add("path", { class: "ln", d: "M" + x(ref) + " 12V40" });
      add("path", { class: "limit", d: "M" + x(limit) + " 12V40", "stroke-dasharray": "4 3" });
      [["baseline", ref, 9], ["limit", limit, 50]].forEach(function (p) {
        var end = x(p[1]) > 320;
        add("text", { x: x(p[1]), y: p[2], "text-anchor": end ? "end" : x(p[1]) < 60 ? "start" : "middle" }, p[0] + " " + digits(p[1]));
      });
    }
    values.forEach(function (v, i) {
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
      el("tbody", {}, rows.map(function (r) {
        return el("tr", {}, r.length > 1 ? [el("th", { scope: "row" }, r[0]), el("td", {}, r[1])] : el("th", { colspan: 2, scope: "colgroup", class: "from" }, r[0]));
      }))
    ]);
  }

  function button(text, act) {
    var b = el("button", { type: "button", class: "copy" }, text);
    b.addEventListener("click", act);
    return b;
  }
  function copying(text, what) {
    var b = button(text, function () {
      navigator.clipboard.writeText(what()).then(function () {
        b.textContent = "Copied";
        setTimeout(function () {
          b.textContent = text;
        }, 2000);
      });
    });
    return b;
  }

  // A part is a heading with nodes for the page and lines for markdown.
  function part(list, head, nodes, lines) {
    if (nodes.length) list.push({ head: head, nodes: nodes, lines: lines });
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
        say.map(function (s) {
          return el("p", {}, s);
        })
      ),
      ["**" + word + "**"].concat(say)
    );
  }

  function targets(parts, t, i) {
    var list = (i >= 0 && t.l && t.l[i]) || [];
    part(
      parts,
      "Targets",
      list.map(function (x) {
        return el("p", {}, [
          el("span", { class: "v " + x.outcome }, x.outcome),
          " " + x.level + " " + x.limit + (x.required ? ", required. " : ". ") + x.why
        ]);
      }),
      list.map(function (x) {
        return "- " + x.outcome + ": " + x.level + " " + x.limit + (x.required ? ", required" : "");
      })
    );
  }

  function repeats(parts, p, t, i) {
    var values = p.repeats.map(numberFrom).filter(function (v) {
        return !isNaN(v);
      }),
      m = i >= 0 ? t.metrics[at(t.m, i)] : null,
      c = i >= 0 ? t.c[i] : null,
      n = i >= 0 ? at(t.x, i) : 0,
      ref = c == null ? null : t.b && i in t.b ? t.b[i] : t.v[i] / (1 + c),
      limit = c == null ? null : ref * (m.higher ? 1 / (1 + m.effect) : 1 + m.effect),
      svg = values.length && picture(values, ref, limit, m && m.higher, p.unit),
      say =
        (values.length === 1 ? "Measured once in this run" : plural(values.length, "repeat") + " in this run: " + p.repeats.join(", ")) +
        (n > 1 ? "; the release has the mean of " + n : "") +
        ".";
    part(parts, "Repeats", (svg ? [svg] : []).concat(el("p", { class: "more" }, say)), [say]);
  }

  // distribution is the picture over requests, where they were seen one by one.
  function distribution(parts, file, page, S, p) {
    var t = tableOf(sectionOf(page, S, "distributions"));
    ((t && t[4]) || []).some(function (r) {
      if (!Array.isArray(r) || textOf(r[0], S) !== p.workload || textOf(r[1], S) !== p.label) return false;
      var c = r[r.length - 1];
      if (c && c.p) part(parts, "Distribution over requests", [paint.strip(c.p, S), el("p", { class: "more" }, S(c.p[6]))], [S(c.p[6])]);
      return true;
    });
  }

  // course is what happened during the measurement: latencies, gauges of the server, power. They are the pictures of the
  // point's row.
  function course(parts, file, page, S, number) {
    var t = tableOf(sectionOf(page, S, "points")),
      cols = file.columns[t[3]],
      row = t[4][number - 1],
      over = "",
      rows = [];
    cols.forEach(function (c, k) {
      var head = S(c[0]);
      if (head === "Over") over = textOf(row[k], S);
      if (row[k] && row[k].k) rows.push({ name: head.replace(/ by time$/, ""), picture: row[k].k, range: S(row[k].s) + "\u202f" + S(c[1]) });
    });
    part(
      parts,
      "By time",
      rows.length
        ? [
            el("table", { class: "facts" }, [
              el("tbody", {}, rows.map(function (r) {
                return el("tr", {}, [el("th", { scope: "row" }, r.name), el("td", {}, [paint.spark(r.picture, S), " ", el("small", {}, r.range)])]);
              }))
            ]),
            el("p", { class: "more" }, "Over " + over + "\u202fs, each line on a scale of its own.")
          ]
        : [],
      rows.map(function (r) {
        return "- " + S(r.picture[0]);
      })
    );
  }

  function sources(parts, page, S, p, number) {
    var commands = ((sectionOf(page, S, "commands") || [])[3] || []).map(function (b) {
        return S(b[1]);
      }),
      line = !p.score && commands[(page[9] || [])[number - 1] - 1],
      files = tableOf(sectionOf(page, S, "files")),
      f = files && files[4][p.file - 1];
    if (!line && !p.score) part(parts, "Command", [el("p", {}, "No command is known here.")], ["none known"]);
    if (line) {
      var pre = el("pre", { tabindex: "0" }, line);
      part(parts, "Command", [pre], ["```", line, "```"]);
    }
    if (f)
      part(
        parts,
        "Raw file",
        [facts([["File", textOf(f[1], S)], ["Format", textOf(f[2], S) + ", " + textOf(f[3], S)], ["SHA-256", textOf(f[4], S)]])],
        ["`" + textOf(f[1], S) + "`", "", "SHA-256 `" + textOf(f[4], S) + "`"]
      );
  }

  function provenance(parts, file, page, S) {
    var t = tableOf(sectionOf(page, S, "identity"));
    if (!t) return;
    // A source stands above what is known from it.
    var rows = t[4]
      .filter(function (r) {
        return !Array.isArray(r) || textOf(r[1], S) !== "unknown";
      })
      .map(function (r) {
        return Array.isArray(r) ? [textOf(r[0], S), textOf(r[1], S)] : [S(r)];
      })
      .filter(function (r, i, all) {
        return r.length > 1 || (all[i + 1] || []).length > 1;
      });
    part(
      parts,
      "Provenance",
      [facts(rows)],
      rows.map(function (r) {
        return r.length > 1 ? "- " + r[0] + ": " + r[1] : "\n" + r[0] + "\n";
      })
    );
  }

  function fill(root, file, page, t, name, where, metric, stat) {
    var S = paint.reader(file.texts),
      score = where[0] === "e",
      number = +where.slice(1),
      p = (score ? scoreOf : pointOf)(file, page, S, number, metric);
    if (!p) return say(root, "Run " + name + " has no " + metric + (score ? " as its score " : " at point ") + number + ".");
    var place = stat ? p.names.indexOf(stat) : -1;
    if (stat && !p.stats[place]) return say(root, "Run " + name + " has no " + stat + " of " + metric + " at point " + number + ".");
    var i = stat ? -1 : rowOf(t, name, number, metric, score), // the table has the means
      crumb = (page[7] || [])[1] || ["", ""],
      release = (page[7] || [])[2] || ["", ""],
      m = i >= 0 ? t.metrics[at(t.m, i)] : null,
      title = p.label + (stat ? " " + stat : "") + (p.workload ? " at " + p.workload : "") + (p.tool ? ", " + p.tool : ""),
      parts = [];
    verdict(parts, t, i);
    if (score) ;
    else if (!stat) repeats(parts, p, t, i);
    else part(parts, "Verdict", [el("p", {}, el("a", { href: root + S(release[1]) }, "The page of the release has the verdict on this " + stat))], []);
    part(parts, "Statistics", [facts(statistics(p))], statistics(p).map(function (r) {
      return "- " + r.join(": ");
    }));
    if (!score) {
      distribution(parts, file, page, S, p);
      course(parts, file, page, S, number);
    }
    targets(parts, t, i);
    var conditions = [p.conditions, p.shared.replace(/\.$/, "")].filter(Boolean).join(", ");
    if (conditions) part(parts, "Conditions", [el("p", {}, conditions)], [conditions]);
    sources(parts, page, S, p, number);
    provenance(parts, file, page, S);

    var own = root + "runs/index.html#" + name + "/" + where + "/" + encodeURIComponent(metric) + (stat ? "/" + stat : ""),
      value = (stat ? p.stats[place] : p.value) + (p.unit ? "\u202f" + p.unit : ""),
      better = m && m.score !== "unstated" ? (m.higher ? " Higher" : " Lower") + " is better." : "";
    function markdown() {
      var out = ["**" + title + ": " + value + "** · " + S(crumb[0]) + " · " + S(release[0]), ""];
      parts.forEach(function (x) {
        out = out.concat("### " + x.head, "", x.lines, "");
      });
      return out.concat("[" + name + (score ? ", score " : ", point ") + number + "](" + own + ")").join("\n") + "\n";
    }
    var body = [
      el("p", {}, [
        S(crumb[1]) ? el("a", { href: root + S(crumb[1]) }, S(crumb[0])) : S(crumb[0]),
        S(release[1]) ? " · " : "",
        S(release[1]) ? el("a", { href: root + S(release[1]) }, S(release[0])) : ""
      ]),
      el("p", { class: "big" }, value),
      el("p", { class: "more" }, "In run " + name + "." + better)
    ];
    parts.forEach(function (x) {
      body = body.concat(el("h3", {}, x.head), x.nodes);
    });
    body.push(el("h3", {}, "Address"), el("p", { class: "id" }, location.hash));
    if (navigator.clipboard)
      body.push(
        el("p", {}, [
          copying("Copy link", function () {
            return location.href;
          }),
          " ",
          copying("Copy as markdown", markdown)
        ])
      );
    put(own, title, body);
    box.querySelectorAll("pre").forEach(ttreport.copyable);
  }

  function put(own, title, body) {
    var top = el("p", { class: "top" }, [own ? el("a", { href: own.replace(/(#[^/]*\/[pe]\d+).*/, "$1") }, "Open the run") : "", button("Close", close)]);
    box.textContent = "";
    [top, el("h2", { id: "drawer-title" }, title)].concat(body).forEach(function (n) {
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
      .load(root + "data/shards/runs.js")
      .then(function () {
        var index = ttreport.data("runs"),
          k = Object.prototype.hasOwnProperty.call(index.runs, name) ? index.runs[name] : -1;
        if (k < 0) return say(root, "There is no run " + name + " in this site.");
        var release = index.releases[index.of[k]];
        return Promise.all([ttreport.load(root + index.files[k]), ttreport.load(root + release.shard)]).then(function () {
          var file = ttreport.data(index.files[k]);
          if (shown !== key || !box) return;
          if (!file.runs[name]) return say(root, "The details of run " + name + " could not be read when this site was built.");
          fill(root, file, file.runs[name], ttreport.data("release " + release.name), name, number, metric, stat);
        });
      })
      .catch(function () {
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

  document.addEventListener("keydown", function (e) {
    if (e.key === "Escape" && box) close();
  });
  ttreport.drawer = { show: show, hide: hide };
})();
