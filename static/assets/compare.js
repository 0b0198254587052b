// The comparison of any two releases, models, devices or tools. It joins two tables of columns: a later release is a
// list of its verdicts; all else is a matrix of workloads and metrics.
"use strict";
(function () {
  var series = ttreport.series,
    { el, read, write } = ttreport,
    { percent, count, select, sorted, view, on } = series,
    CHOICES = ttreport.CHOICES; // what both sides choose beside a release

  function local(n) {
    return n.toLocaleString("en-US");
  }
  var RANK = ["regressed", "inconclusive", "below-limit", "improved", "recovered", "unchanged"];

  function compare(root, host) {
    var shardOf = {},
      names = [],
      builds = !!host.querySelector("[data-release][title]"); // each device has its own
    host.querySelectorAll("[data-release]").forEach((s) => {
      shardOf[s.dataset.release] = s.dataset.shard;
      names.unshift(s.dataset.release);
    });
    var sides = ["a", "b"].map((id) => {
      var parts = {
        release: select(builds ? "Build" : "Release", id + "release", names),
        model: select("Model", id + "model", [], "any"),
        device: select("Device", id + "device", [], "any"),
        setup: select("Configuration", id + "setup", [], "any"),
        tool: select("Tool", id + "tool", [], "any")
      };
      return { id, parts, box: el("fieldset", {}, [el("legend", {}, id.toUpperCase()), ...Object.values(parts).map(p => p.box)]) };
    });
    var summary = "",
      said = el("p", { class: "more", role: "status" }),
      rows = [],
      CHANGE = 6, // its column
      sortBy = CHANGE,
      down = true,
      missing = "",
      judged = false, // B is a later release than A: its verdicts say what is significant
      list = [], // of rows, those that are shown
      filter = el("input", { type: "checkbox", name: "significant" }),
      toggle = el("label", { class: "check" }, [filter, " only what is significant"]),
      curves = el("div", {}),
      matrix = el("div", { class: "tw whole", tabindex: 0, role: "region", "aria-label": "Workloads by metric" }),
      chips = el("p", { class: "chips" }),
      touched = false, // a release was chosen here
      differ = el("p", { class: "more", role: "note" });
    // state is what the address says; what is compared at first where it says nothing.
    function state() {
      var now = read();
      return Object.keys(now).length ? now : Object.fromEntries(new URLSearchParams(host.dataset.at));
    }
    filter.addEventListener("change", () => {
      var now = state();
      now.all = filter.checked ? "" : "1";
      write(now, true);
      apply();
    });
    var cols = [
      {
        head: "Metric",
        cell (r) {
          return [r.m.label, el("small", {}, r.m.score === "unstated" ? "score" : (r.m.score ? "score" : r.m.unit) + ", " + (r.m.higher ? "higher" : "lower") + " is better")];
        },
        sort: r => r.m.label
      },
      {
        head: "Workload",
        cell: r => [r.workload, el("small", {}, r.work.text)],
        sort: r => r.workload
      },
      {
        head: "Where",
        cell: r => r.page ? el("a", { href: root + r.page }, r.where) : r.where,
        sort: r => r.where
      },
      {
        head: "Tool",
        cell: r => r.tool,
        sort: r => r.tool
      },
      {
        head: "A",
        num: true,
        cell: r => series.number(root, r.one.t, r.one.i),
        sort: r => r.a
      },
      {
        head: "B",
        num: true,
        cell: r => series.number(root, r.two.t, r.two.i),
        sort: r => r.b
      },
      {
        head: "Change",
        num: true,
        cell: r => r.unlike
          ? el("span", { class: "v not-comparable" }, r.unlike)
          : [series.change(r.m, r.change), el("small", {}, r.m.score ? "" : ttreport.ratio(r, x => percent(x - 1)))],
        sort: r => r.bad
      },
      {
        head: "Verdict of B",
        cell: r => [series.verdict(r.verdict), el("small", {}, interval(r.two))],
        sort: r => RANK.indexOf(r.verdict.verdict) < 0 ? 99 : RANK.indexOf(r.verdict.verdict)
      }
    ];
    // interval is B's change against its own baseline, and that of the change.
    function interval(x) {
      var c = x.t.c[x.i],
        h = ttreport.noise(x);
      if (c == null || isNaN(h)) return "";
      return percent(c) + " from its baseline, " + percent(Math.expm1(Math.log1p(c) - h)) + " to " + percent(Math.expm1(Math.log1p(c) + h));
    }
    var v = view("Differences", cols, (k) => {
      var now = state();
      down = sortBy === k ? !down : k === CHANGE;
      sortBy = k;
      now.sort = k === CHANGE && down ? "" : cols[k].head;
      now.dir = now.sort && down ? "down" : "";
      write(now, true);
      order();
    });
    // ordered takes the order from the address; the largest regressions come first where it says nothing.
    function ordered(now) {
      var k = cols.findIndex(c => c.head === now.sort);
      sortBy = k < 0 ? CHANGE : k;
      down = k < 0 || now.dir === "down";
    }
    // means are the geometric means of the ratios, by metric: "TTFT mean −3.2 %".
    function means(alike) {
      var sums = new Map();
      rows.forEach((r) => {
        if ((alike && r.work.text) || r.unlike || r.m.score || !(r.a > 0) || !(r.b > 0)) return;
        var s = sums.get(r.m.label) || { sum: 0, n: 0 };
        s.sum += Math.log(r.b / r.a);
        s.n++;
        sums.set(r.m.label, s);
      });
      return Array.from(sums, e => e[1].n > 1 ? [e[0] + " " + percent(Math.exp(e[1].sum / e[1].n) - 1)] : [])
        .flat()
        .join(", ");
    }
    function order() {
      var key = cols[sortBy].sort,
        sign = down ? -1 : 1;
      list = rows.filter(
        r =>
          !(judged && filter.checked) ||
          ["regressed", "improved", "recovered", "below-limit"].indexOf(r.verdict.verdict) >= 0
      );
      said.textContent = summary;
      if (judged && filter.checked && rows.length)
        said.textContent += list.length
          ? " Shown: the " + count(list.length, "number") + " whose change is significant."
          : " No change is significant; clear the checkbox to see all.";
      list.sort((x, y) => {
        var p = key(x),
          s = key(y);
        return (typeof p === "string" ? p.localeCompare(s, "en", { numeric: true }) : p - s) * sign;
      });
      v.box.hidden = !judged || !list.length;
      matrix.hidden = judged;
      if (judged) v.show(list, sortBy, down);
      else ttreport.matrix(matrix, rows, root, 100);
    }
    // name says in what A and B differ, and warns where that is more than one thing.
    function name(chosen, want, now) {
      var parts = [];
      CHOICES.forEach((k) => {
        if (chosen[0][k] !== chosen[1][k]) parts.push([k === "setup" ? "configuration" : k, chosen[0][k] || "any", chosen[1][k] || "any"]);
      });
      if (want[0] !== want[1] && !(builds && parts.length)) parts.unshift([builds ? "build" : "release", want[0], want[1]]);
      chips.replaceChildren("A and B differ in ", ...(parts.length ? parts.map(p => el("span", { class: "tag" }, p[0] + ": " + p[1] + " → " + p[2])) : ["nothing that is chosen"]));
      if (parts.length < 2) return;
      chips.append(el("span", { class: "v warning", role: "alert" }, parts.length + " variables at once: a difference is of all of them together. "));
      if (parts[0][0] !== "release") return;
      chips.append(ttreport.button(want[1] + " on both sides", () => {
        now.arelease = want[1];
        write(now, true);
        apply();
      }));
    }
    function fill(part, list, chosen) {
      var s = part.input;
      while (s.options.length > 1) s.remove(1);
      sorted(list.filter(Boolean)).forEach(x => s.append(el("option", { value: x }, x)));
      s.value = chosen || "";
      if (s.selectedIndex < 0) s.value = "";
      return s.value;
    }
    function apply() {
      var now = state();
      ordered(now);
      filter.checked = !now.all;
      missing = sides
        .map((s) => {
          var name = now[s.id + "release"];
          return name && !shardOf[name]
            ? " The address names release " + name + ", which is not here; another is shown."
            : "";
        })
        .join("");
      var want = sides.map(s => shardOf[now[s.id + "release"]]
          ? now[s.id + "release"]
          : host.dataset[s.id] || names[s.id === "a" ? Math.min(1, names.length - 1) : 0]);
      Promise.all(want.map(name => ttreport.load(root + shardOf[name]))).then(
        () => {
          var tables = want.map(name => setups(series.whole(ttreport.data("release " + name)))),
            several = new Set(tables.flatMap(t => t.setupOf).filter(Boolean)).size > 1;
          sides.forEach(s => (s.parts.setup.box.hidden = !several));
          var chosen = sides.map((s, n) => {
            var t = tables[n];
            s.parts.release.input.value = want[n];
            var of = { model: t.pairs.map(p => p.model), device: t.pairs.map(p => p.device), setup: t.setupOf, tool: t.tools };
            return Object.fromEntries(CHOICES.map(k => [k, fill(s.parts[k], of[k], now[s.id + k])]));
          });
          judged = !builds && names.indexOf(want[0]) > names.indexOf(want[1]);
          sides.forEach((s, n) => { // a link shows the same when other releases are the newest
            now[s.id + "release"] = want[n];
          });
          if (!missing && !/^#[^=]+$/.test(location.hash)) write(now); // but for the address of a number
          name(chosen, want, now);
          join(tables, chosen, want[0] === want[1]);
          ttreport.overlay(curves, rows, chosen, want);
        },
        () => {
          said.textContent = "The numbers of a release could not be loaded: data/shards/ belongs to the site.";
        }
      );
    }
    // setups names the configuration of each number: implementation, engine and precision, then what its workload states.
    function setups(t) {
      t.setupOf = t.setupOf || t.v.map((_, i) => {
        var n = t.conds[t.n[i]] || {},
          impl = t.impls[t.i[i]];
        return [impl, ...[n.engine, n.precision].filter(x => x && !impl.includes(x)), (t.setups[t.w[i]] || [])[1]].filter(Boolean).join(", ");
      });
      return t;
    }
    // What both sides choose and choose differently is what is compared; everything else must be the same.
    function join(tables, chosen, same) {
      var differs = {};
      CHOICES.forEach((k) => {
        if (chosen[0][k] === chosen[1][k]) return;
        same = false;
        differs[k] = chosen[0][k] && chosen[1][k];
      });
      var sideRows = tables.map((t, n) => {
        var c = chosen[n],
          map = new Map();
        for (var i = 0; i < t.v.length; i++) {
          var p = t.pairs[t.p[i]],
            tool = t.tools[t.t[i]],
            m = t.metrics[t.m[i]];
          if ((c.model && p.model !== c.model) || (c.device && p.device !== c.device) || (c.tool && tool !== c.tool) || (c.setup && t.setupOf[i] !== c.setup))
            continue;
          var setup = t.setups[t.w[i]] || [t.workloads[t.w[i]], ""];
          var key = [
            differs.model ? "" : p.model,
            differs.device ? "" : p.device,
            differs.setup ? "" : t.impls[t.i[i]],
            setup[0],
            differs.tool ? "" : tool,
            differs.setup ? "" : setup[1],
            m.name,
            m.label
          ].join("\n");
          if (map.has(key)) map.get(key).twice = true;
          else
            map.set(key, { t, i, v: t.v[i], p, tool, w: differs.setup ? setup[0] : t.workloads[t.w[i]], m, n: t.conds[t.n[i]] || {} });
        }
        return map;
      });
      rows = [];
      // The judge says what regressed, of a later release alone. All else is a difference: slower or faster.
      judged = judged && !CHOICES.some(k => differs[k]);
      toggle.hidden = !judged;
      var unalike = new Map();
      var words = judged ? ["regressed", "improved"] : ["slower", "faster"];
      var only = [0, 0],
        ambiguous = 0,
        regressed = 0,
        improved = 0,
        scores = 0,
        unlike = 0;
      sideRows[0].forEach((a, key) => {
        var b = sideRows[1].get(key);
        if (!b) {
          only[0]++;
          return;
        }
        if (a.twice || b.twice) {
          ambiguous++;
          return;
        }
        // A window is a condition of both sides: a measurement without one is whole.
        var other = Object.keys(Object.assign({}, a.n, b.n))
          .filter(k => (k === "window" || (k in a.n && k in b.n)) && b.n[k] !== a.n[k] && !(k === "client" && differs.tool) && !(differs.setup && (k === "engine" || k === "precision")))
          .map(k => k + " " + (a.n[k] || "whole") + " → " + (b.n[k] || "whole"));
        var m = a.m.scale && !b.m.scale ? b.m : a.m, // one in percent and one as a fraction are both shares
          change = a.m.score ? (m.scale ? b.v / b.m.scale - a.v / a.m.scale : b.v - a.v) : a.v ? b.v / a.v - 1 : 0,
          bad = a.m.higher ? -change : change,
          far = !a.m.score && Math.abs(change) >= a.m.effect; // of a score, only its questions can tell
        other.forEach((what) => {
          unalike.set(what, (unalike.get(what) || 0) + 1);
        });
        if (a.m.score) scores++;
        if (other.length) {
          unlike++;
          far = false;
          bad = -1e9;
        } else if (judged) {
          var word = b.t.words[b.t.g[b.i]].verdict;
          regressed += word === "regressed";
          improved += word === "improved";
        } else if (far)
          if (bad > 0) regressed++;
          else improved++;
        var where = differs.model && differs.device ? "" : differs.model ? a.p.device : differs.device ? a.p.model : on(a.p);
        rows.push({
          m,
          workload: a.w,
          where,
          page: a.p.page,
          tool: differs.tool ? "" : a.tool,
          one: a,
          two: b,
          work: ttreport.work(a, b),
          verdict: b.t.words[b.t.g[b.i]],
          a: a.v,
          b: b.v,
          change,
          bad,
          far,
          word: words[bad > 0 ? 0 : 1],
          unlike: other.join(", ")
        });
      });
      sideRows[1].forEach((_, key) => {
        if (!sideRows[0].has(key)) only[1]++;
      });
      var mean = means(),
        works = ttreport.works(rows),
        alike = works && means(true),
        numbers = rows.length - unlike - scores;
      summary = (same ? "A and B are the same. " : "") + (rows.length
        ? (numbers || !scores ? count(numbers, "number") : "") +
          (scores ? (numbers ? " and " : "") + count(scores, "score") : "") +
          " on both sides" +
          (numbers || judged ? ": " + local(regressed) + " " + words[0] + " and " + local(improved) + " " + words[1] : "") +
          (judged ? ", as B was judged against its own baseline" : (numbers ? " by more than the limit" : "") + ", not judged") +
          (judged && mean ? "; geometric mean " + mean : "") +
          (alike && "; without those marked " + alike) +
          only.map((n, i) => (n ? "; " + local(n) + " only in " + "AB"[i] : "")).join("") +
          (ambiguous ? "; " + count(ambiguous, "number") + " measured in several ways left out" : "") +
          (unlike ? "; " + local(unlike) + " not comparable, because conditions differ" : "") +
          "." +
          missing
        : "Nothing was measured on both sides: " +
          (sideRows[0].size
            ? sideRows[1].size
              ? "workloads, metrics and what is not chosen must be the same."
              : "B has no number."
            : "A has no number.") +
          ttreport.nearest(sideRows[0], sideRows[1]) +
          missing);
      differ.textContent = works + ttreport.unalike(unalike);
      order();
    }
    sides.forEach((s) => {
      for (var k in s.parts)
        s.parts[k].input.addEventListener("change", (e) => {
          var now = state();
          now[e.target.name] = e.target.value;
          touched = touched || /release/.test(e.target.name);
          // Another device, model or tool is compared at one release, unless somebody chose two.
          if (!touched && !/release/.test(e.target.name) && shardOf[now.brelease] && !builds && now[s.id + e.target.name.slice(1)] !== now[(s.id === "a" ? "b" : "a") + e.target.name.slice(1)])
            now.arelease = now.brelease;
          write(now, true);
          apply();
        });
    });
    addEventListener("popstate", apply);
    addEventListener("hashchange", apply);
    host.replaceChildren(el("form", { class: "filters" }, sides.map(s => s.box)), chips, differ, toggle, said, v.box, matrix, curves);
    apply();
    addEventListener("resize", v.again);
  }

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("[data-widget='compare']").forEach((host) => {
      compare(host.dataset.root, host);
    });
  });
})();
