// The explorer of all series: it filters and sorts a table of columns, and shows the rows in view.
"use strict";
(function () {
  var series = ttreport.series,
    { el, read, write } = ttreport,
    { select, sorted, view, on, verdictName, verdict, spark } = series;

  var WORST = ["regressed confirmed", "regressed suspected", "inconclusive", "below the limit", "improved confirmed", "improved suspected"];

  function explore(root, host, newest) {
    var t, pairName, text, ranks, first, shardOf = {}, releases = [];
    host.querySelectorAll("[data-release]").forEach((s) => {
      shardOf[s.dataset.release] = s.dataset.shard;
      releases.unshift(s.dataset.release);
    });
    // bad is how much worse than its baseline a number is; what has no change comes last.
    function bad(i) {
      return t.c[i] == null ? -1e9 : t.metrics[t.m[i]].higher ? -t.c[i] : t.c[i];
    }
    // use shows a table: that of all series, each in its newest release, or that of one release.
    function use(table) {
      t = table;
      pairName = t.pairs.map(on);
      text = {
        w: t.workloads,
        m: t.metrics.map(m => m.label),
        t: t.tools,
        p: pairName,
        i: t.impls,
        g: t.words.map(verdictName)
      };
      ranks = {}; // of every row by a column, made when it is first asked for: sorting then compares small numbers
      first = null;
      if (t.s) return; // it is in order
      var place = text.g.map((g) => {
        var k = WORST.indexOf(g);
        return k < 0 ? 99 : k;
      });
      first = [];
      t.v
        .map((_, i) => i)
        .sort((a, b) => place[t.g[a]] - place[t.g[b]] || bad(b) - bad(a) || a - b)
        .forEach((i, n) => {
          first[i] = n;
        });
    }
    use(newest);
    var q = el("input", { type: "search", name: "q", placeholder: "model, device, 2048/128, TTFT …", autocomplete: "off" });
    var f = {
      model: select("Model", "model", sorted(t.pairs.map(p => p.model)), "any"),
      device: select("Device", "device", sorted(t.pairs.map(p => p.device)), "any"),
      release: select("Release", "release", releases, "newest of each"),
      channel: select("Channel", "channel", sorted(t.channels || []), "any"),
      tool: select("Tool", "tool", sorted(t.tools), "any"),
      metric: select("Metric", "metric", sorted(text.m), "any"),
      workload: select("Workload", "workload", sorted(t.workloads), "any"),
      verdict: select("Verdict", "verdict", sorted(text.g), "any")
    };
    var said = el("p", { class: "more", role: "status" }),
      save = ttreport.button("CSV of these", () => ttreport.offer("explore.csv", "text/csv", csv())),
      shown = [];
    var state = read();
    var cols = [
      {
        head: "Verdict",
        cell: i => verdict(t.words[t.g[i]]),
        sort: i => i
      },
      {
        head: "Model on device",
        cell (i) {
          var p = t.pairs[t.p[i]];
          return el("a", { href: root + p.page }, pairName[t.p[i]]);
        },
        sort: i => pairName[t.p[i]],
        dict: "p"
      },
      {
        head: "Workload",
        cell (i) {
          return [
            t.workloads[t.w[i]],
            el("small", {}, [t.tools[t.t[i]], t.impls[t.i[i]]].filter(Boolean).join(" · "))
          ];
        },
        sort: true,
        dict: "w"
      },
      {
        head: "Metric",
        cell (i) {
          var m = t.metrics[t.m[i]];
          return [m.label, el("small", {}, m.unit)];
        },
        sort: true,
        dict: "m"
      },
      {
        head: "Value",
        num: true,
        cell: i => series.number(root, t, i),
        sort: i => t.v[i]
      },
      {
        head: "Change",
        num: true,
        worst: true,
        cell: i => t.c[i] == null ? "–" : series.change(t.metrics[t.m[i]], t.c[i]),
        sort: bad
      },
      {
        head: "Release",
        cell: i => t.releases[t.r[i]],
        sort: true,
        dict: "r"
      },
      {
        head: "History",
        cell (i) {
          if (!t.s || !t.s[i]) return "";
          var w = [t.workloads[t.w[i]], t.tools[t.t[i]], t.impls[t.i[i]]].join(" ").replace(/\s+/g, " ").trim(),
            to = ttreport.hash({ of: t.pairs[t.p[i]].of, w, k: t.metrics[t.m[i]].label });
          return el("a", { href: root + "series/index.html" + to, "aria-label": "History" }, spark(t.s[i]));
        }
      }
    ];
    var v = view("Series", cols, (k) => {
      state = read();
      var down = state.sort === cols[k].head ? state.dir !== "down" : !!cols[k].worst; // worst first
      state.sort = cols[k].head;
      state.dir = down ? "down" : "";
      write(state, true);
      apply();
    });
    function rank(k) {
      if (ranks[k]) return ranks[k];
      var c = cols[k],
        n = t.v.length,
        keys = new Float64Array(n);
      if (!k && first) return (ranks[0] = first);
      if (c.dict) {
        var list = c.dict === "r" ? t.releases : text[c.dict],
          by = list.map((_, i) => i);
        if (c.dict !== "r")
          by.sort((a, b) => list[a].localeCompare(list[b], "en", { numeric: true }));
        var at = [];
        by.forEach((i, place) => {
          at[i] = place;
        });
        for (var i = 0; i < n; i++) keys[i] = at[t[c.dict][i]];
      } else for (var j = 0; j < n; j++) keys[j] = c.sort(j);
      return (ranks[k] = keys);
    }
    // table is that of the release in the address, once it is there.
    function table(name) {
      var src = shardOf[name];
      if (!src) return newest;
      var one = ttreport.data("release " + name);
      if (!one) {
        said.textContent = "Loading " + name + " …";
        ttreport.load(root + src).then(apply, () => {
          said.textContent = "The numbers of " + name + " could not be loaded: data/shards/ belongs to the site.";
        });
        return null;
      }
      if (!one.r) {
        series.whole(one);
        one.r = new Uint8Array(one.v.length);
        one.releases = [name];
      }
      return one;
    }
    // bound is a word such as value>=1,000 or change<-5%: what a value or a change in percent is beyond.
    function bound(word) {
      var b = /^(value|change)([<>]=?)(-?(?:\d[\d,]*(?:\.\d*)?|\.\d+))(%?)$/.exec(word.replace("−", "-"));
      return b && !(b[1] === "value" && b[4]) ? b : null;
    }
    function bounds(words) {
      return words
        .map(bound)
        .filter(Boolean)
        .map((b) => {
          var sign = b[2][0] === ">" ? 1 : -1,
            least = b[2][1] ? -1e-12 : 0,
            than = +b[3].replace(/,/g, "");
          return function (i) {
            var m = t.metrics[t.m[i]],
              v = b[1] === "value" ? t.v[i] : t.c[i];
            if (v == null) return false;
            if (b[1] === "change" && (!m.score || m.scale)) v *= 100; // other scores have no percent
            var beyond = (v - than) * sign;
            return beyond > 0 || (least && beyond >= least * Math.max(1, Math.abs(than)));
          };
        });
    }
    function apply() {
      state = read();
      var now = table(state.release);
      if (!now) return;
      if (now !== t) use(now);
      q.value = state.q || "";
      for (var k in f) {
        f[k].input.value = state[k] || "";
        if (f[k].input.selectedIndex < 0) f[k].input.value = "";
      }
      var words = (state.q || "").toLowerCase().split(/\s+/).filter(Boolean),
        n = t.v.length,
        out = new Uint32Array(n),
        found = 0;
      var beyond = bounds(words);
      words = words.filter(w => !bound(w));
      // A word is looked for in each list once; a row then asks small tables.
      var hits = words.map((w) => {
        var o = {};
        for (var d in text)
          o[d] = Uint8Array.from(text[d], s => s.toLowerCase().indexOf(w) >= 0 ? 1 : 0);
        return o;
      });
      var keep = {
        p: Uint8Array.from(t.pairs, p => (!state.model || p.model === state.model) && (!state.device || p.device === state.device) ? 1 : 0),
        m: Uint8Array.from(text.m, s => !state.metric || s === state.metric ? 1 : 0),
        r: Uint8Array.from(t.releases, (s, i) => t !== newest || !state.channel || t.channels[i] === state.channel ? 1 : 0),
        t: Uint8Array.from(t.tools, s => !state.tool || s === state.tool ? 1 : 0),
        w: Uint8Array.from(t.workloads, s => !state.workload || s === state.workload ? 1 : 0),
        g: Uint8Array.from(text.g, s => !state.verdict || s === state.verdict ? 1 : 0)
      };
      for (var i = 0; i < n; i++) {
        if (!(keep.p[t.p[i]] && keep.m[t.m[i]] && keep.w[t.w[i]] && keep.g[t.g[i]] && keep.r[t.r[i]] && keep.t[t.t[i]])) continue;
        var all = beyond.every(b => b(i));
        for (var h = 0; h < hits.length && all; h++) {
          var o = hits[h];
          all = o.p[t.p[i]] || o.w[t.w[i]] || o.m[t.m[i]] || o.t[t.t[i]] || o.i[t.i[i]] || o.g[t.g[i]];
        }
        if (all) out[found++] = i;
      }
      out = out.subarray(0, found);
      var col = cols.findIndex(c => c.sort && c.head === state.sort),
        down = state.dir === "down";
      if (col > 0 || down || first) {
        var keys = rank(Math.max(0, col)),
          sign = down ? -1 : 1;
        out.sort((a, b) => (keys[a] - keys[b]) * sign || a - b);
      }
      said.textContent = found.toLocaleString("en-US") + " series of " + n.toLocaleString("en-US") + (found ? "" : ": nothing matches");
      shown = out;
      v.show(out, col < 0 ? 0 : col, down);
    }
    // csv is what the filters left, in its order.
    function csv() {
      var lines = [
        ["model", "device", "implementation", "workload", "tool", "metric", "unit", "value", "change", "verdict", "evidence", "release", "run", "point"]
      ];
      for (var n = 0; n < shown.length; n++) {
        var i = shown[n],
          p = t.pairs[t.p[i]],
          m = t.metrics[t.m[i]],
          g = t.words[t.g[i]],
          known = t.u && t.u[i] >= 0;
        lines.push([
          p.model, p.device, t.impls[t.i[i]], t.workloads[t.w[i]], t.tools[t.t[i]], m.label, m.unit, t.v[i], t.c[i], g.verdict,
          g.since ? "since " + g.since : g.evidence, t.releases[t.r[i]], known ? t.runs[t.u[i]] : "", known ? t.o[i] : ""
        ]);
      }
      return ttreport.csv(lines);
    }
    var timer;
    function choose(e, kept) {
      state = read();
      state[e.name] = e.value;
      write(state, kept);
      apply();
    }
    q.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => choose(q, false), 60);
    });
    for (var k in f) f[k].input.addEventListener("change", e => choose(e.target, true));
    addEventListener("popstate", apply);
    addEventListener("hashchange", apply);
    var boxes = Object.keys(f).map(k => f[k].box), // folded on a phone, where they would fill it
      more = el("details", { open: innerWidth < 860 && location.hash.length < 2 ? null : "" },
        [el("summary", {}, "Filters"), el("div", { class: "filters" }, boxes)]),
      form = el("form", { class: "filters", role: "search" }, [el("label", {}, ["Text", q]), more]);
    form.onsubmit = () => false;
    host.replaceChildren(form, el("div", { class: "chips" }, [said, el("p", { class: "downloads" }, save)]), v.box);
    apply();
    addEventListener("resize", v.again);
  }

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("[data-widget='explore']").forEach((host) => {
      var root = host.dataset.root;
      ttreport.load(root + host.dataset.shard).then(
        () => {
          explore(root, host, series.whole(ttreport.data("explore")));
        },
        () => {
          host.querySelector("p").textContent =
            "The numbers could not be loaded: data/shards/explore.js belongs to the site.";
        }
      );
    });
  });
})();
