// The comparison of any two releases, models, devices or tools: it joins two tables of columns and shows the rows in
// view.
"use strict";
(function () {
  var series = ttreport.series,
    el = series.el,
    percent = series.percent,
    count = series.count,
    read = series.read,
    write = series.write,
    select = series.select,
    sorted = series.sorted,
    view = series.view,
    on = series.on;

  function compare(root, host) {
    var shardOf = {},
      names = [];
    host.querySelectorAll("[data-release]").forEach(function (s) {
      shardOf[s.dataset.release] = s.dataset.shard;
      names.unshift(s.dataset.release);
    });
    var sides = ["a", "b"].map(function (id) {
      var parts = {
        release: select("Release", id + "release", names),
        model: select("Model", id + "model", [], "any"),
        device: select("Device", id + "device", [], "any"),
        tool: select("Tool", id + "tool", [], "any")
      };
      return {
        id: id,
        parts: parts,
        box: el(
          "fieldset",
          {},
          [el("legend", {}, id.toUpperCase())].concat(
            Object.keys(parts).map(function (k) {
              return parts[k].box;
            })
          )
        )
      };
    });
    var said = el("p", { class: "more", role: "status" }),
      rows = [],
      CHANGE = 6, // its column
      sortBy = CHANGE,
      down = true,
      missing = "";
    var cols = [
      {
        head: "Metric",
        cell: function (r) {
          return [r.m.label, el("small", {}, r.m.unit + ", " + (r.m.higher ? "higher" : "lower") + " is better")];
        },
        sort: function (r) {
          return r.m.label;
        }
      },
      {
        head: "Workload",
        cell: function (r) {
          return r.workload;
        },
        sort: function (r) {
          return r.workload;
        }
      },
      {
        head: "Where",
        cell: function (r) {
          return r.page ? el("a", { href: root + r.page }, r.where) : r.where;
        },
        sort: function (r) {
          return r.where;
        }
      },
      {
        head: "Tool",
        cell: function (r) {
          return r.tool;
        },
        sort: function (r) {
          return r.tool;
        }
      },
      {
        head: "A",
        num: true,
        cell: function (r) {
          return series.number(root, r.one.t, r.one.i);
        },
        sort: function (r) {
          return r.a;
        }
      },
      {
        head: "B",
        num: true,
        cell: function (r) {
          return series.number(root, r.two.t, r.two.i);
        },
        sort: function (r) {
          return r.b;
        }
      },
      {
        head: "Change",
        num: true,
        cell: function (r) {
          return r.unlike
            ? el("span", { class: "w not-comparable" }, "≠ " + r.unlike)
            : el(
                "span",
                { class: r.far ? "w " + r.word : null },
                percent(r.change) + (r.far ? " " + r.word : "")
              );
        },
        sort: function (r) {
          return r.bad;
        }
      }
    ];
    var v = view("Differences", cols, function (k) {
      var state = read();
      down = sortBy === k ? !down : k === CHANGE;
      sortBy = k;
      state.sort = k === CHANGE && down ? "" : cols[k].head;
      state.dir = state.sort && down ? "down" : "";
      write(state, true);
      order();
    });
    // ordered takes the order from the address; the largest regressions come first where it says nothing.
    function ordered(state) {
      var k = cols.findIndex(function (c) {
        return c.head === state.sort;
      });
      sortBy = k < 0 ? CHANGE : k;
      down = k < 0 || state.dir === "down";
    }
    // means are the geometric means of the ratios, by metric: "TTFT mean −3.2 %".
    function means() {
      var sums = new Map();
      rows.forEach(function (r) {
        if (r.unlike || !(r.a > 0) || !(r.b > 0)) return;
        var s = sums.get(r.m.label) || { sum: 0, n: 0 };
        s.sum += Math.log(r.b / r.a);
        s.n++;
        sums.set(r.m.label, s);
      });
      return Array.from(sums, function (e) {
        return e[0] + " " + percent(Math.exp(e[1].sum / e[1].n) - 1);
      }).join(", ");
    }
    function order() {
      var key = cols[sortBy].sort,
        sign = down ? -1 : 1;
      rows.sort(function (x, y) {
        var p = key(x),
          s = key(y);
        return (typeof p === "string" ? p.localeCompare(s, "en", { numeric: true }) : p - s) * sign;
      });
      v.show(rows, sortBy, down);
    }
    function fill(part, list, chosen) {
      var s = part.input;
      while (s.options.length > 1) s.remove(1);
      sorted(list).forEach(function (x) {
        s.appendChild(el("option", { value: x }, x || "none"));
      });
      s.value = chosen || "";
      if (s.selectedIndex < 0) s.value = "";
      return s.value;
    }
    function apply() {
      var state = read();
      ordered(state);
      missing = sides
        .map(function (s) {
          var name = state[s.id + "release"];
          return name && !shardOf[name]
            ? " The address names release " + name + ", which is not here; another is shown."
            : "";
        })
        .join("");
      var want = sides.map(function (s) {
        return shardOf[state[s.id + "release"]]
          ? state[s.id + "release"]
          : host.dataset[s.id] || names[s.id === "a" ? Math.min(1, names.length - 1) : 0];
      });
      Promise.all(
        want.map(function (name) {
          return ttreport.load(root + shardOf[name]);
        })
      ).then(
        function () {
          var tables = want.map(function (name) {
            return series.whole(ttreport.data("release " + name));
          });
          var chosen = sides.map(function (s, n) {
            var t = tables[n];
            s.parts.release.input.value = want[n];
            return {
              model: fill(
                s.parts.model,
                t.pairs.map(function (p) {
                  return p.model;
                }),
                state[s.id + "model"]
              ),
              device: fill(
                s.parts.device,
                t.pairs.map(function (p) {
                  return p.device;
                }),
                state[s.id + "device"]
              ),
              tool: fill(s.parts.tool, t.tools, state[s.id + "tool"])
            };
          });
          join(tables, chosen);
        },
        function () {
          said.textContent = "The numbers of a release could not be loaded: data/shards/ belongs to the site.";
        }
      );
    }
    // What both sides choose and choose differently is what is compared; everything else must be the same.
    function join(tables, chosen) {
      var differs = {};
      ["model", "device", "tool"].forEach(function (k) {
        differs[k] = chosen[0][k] && chosen[1][k] && chosen[0][k] !== chosen[1][k];
      });
      var sideRows = tables.map(function (t, n) {
        var c = chosen[n],
          map = new Map(),
          twice = 0;
        for (var i = 0; i < t.v.length; i++) {
          var p = t.pairs[t.p[i]],
            tool = t.tools[t.t[i]],
            m = t.metrics[t.m[i]];
          if ((c.model && p.model !== c.model) || (c.device && p.device !== c.device) || (c.tool && tool !== c.tool))
            continue;
          var key = [
            differs.model ? "" : p.model,
            differs.device ? "" : p.device,
            t.impls[t.i[i]],
            t.workloads[t.w[i]],
            differs.tool ? "" : tool,
            m.name,
            m.label
          ].join("\n");
          if (map.has(key)) {
            twice++;
            map.get(key).twice = true;
          } else
            map.set(key, { t: t, i: i, v: t.v[i], p: p, tool: tool, w: t.workloads[t.w[i]], m: m, n: t.conds[t.n[i]] || {} });
        }
        return map;
      });
      rows = [];
      // A release regresses; another device, model or tool is slower or faster, and nobody's fault.
      var words = differs.model || differs.device || differs.tool ? ["slower", "faster"] : ["regressed", "improved"];
      var only = [0, 0],
        ambiguous = 0,
        regressed = 0,
        improved = 0,
        unlike = 0;
      sideRows[0].forEach(function (a, key) {
        var b = sideRows[1].get(key);
        if (!b) {
          only[0]++;
          return;
        }
        if (a.twice || b.twice) {
          ambiguous++;
          return;
        }
        var other = Object.keys(a.n).filter(function (k) {
          return k in b.n && b.n[k] !== a.n[k] && !(k === "client" && differs.tool);
        });
        var change = a.v ? b.v / a.v - 1 : 0,
          bad = a.m.higher ? -change : change,
          far = Math.abs(change) >= a.m.effect;
        if (other.length) {
          unlike++;
          far = false;
          bad = -1e9;
        } else if (far)
          if (bad > 0) regressed++;
          else improved++;
        var where = differs.model || differs.device ? on(a.p) + " → " + on(b.p) : on(a.p);
        rows.push({
          m: a.m,
          workload: a.w,
          where: where,
          page: differs.model || differs.device ? "" : a.p.page,
          tool: differs.tool ? a.tool + " → " + b.tool : a.tool,
          one: a,
          two: b,
          a: a.v,
          b: b.v,
          change: change,
          bad: bad,
          far: far,
          word: words[bad > 0 ? 0 : 1],
          unlike: other
            .map(function (k) {
              return k + " " + a.n[k] + " → " + b.n[k];
            })
            .join(", ")
        });
      });
      sideRows[1].forEach(function (_, key) {
        if (!sideRows[0].has(key)) only[1]++;
      });
      said.textContent = rows.length
        ? count(rows.length, "number") +
          " on both sides: " +
          regressed.toLocaleString("en-US") +
          " " +
          words[0] +
          " and " +
          improved.toLocaleString("en-US") +
          " " +
          words[1] +
          " by more than the limit; geometric mean " +
          (means() || "of nothing") +
          "; " +
          only[0].toLocaleString("en-US") +
          " only in A, " +
          only[1].toLocaleString("en-US") +
          " only in B" +
          (ambiguous ? "; " + count(ambiguous, "number") + " measured in several ways left out" : "") +
          (unlike ? "; " + unlike.toLocaleString("en-US") + " not comparable, because conditions differ" : "") +
          "." +
          missing
        : "Nothing was measured on both sides: " +
          (sideRows[0].size
            ? sideRows[1].size
              ? "workloads, metrics and what is not chosen must be the same."
              : "B has no number."
            : "A has no number.") +
          missing;
      order();
    }
    sides.forEach(function (s) {
      for (var k in s.parts)
        s.parts[k].input.addEventListener("change", function (e) {
          var state = read();
          state[e.target.name] = e.target.value;
          write(state, true);
          apply();
        });
    });
    addEventListener("popstate", apply);
    addEventListener("hashchange", apply);
    host.textContent = "";
    host.appendChild(
      el(
        "form",
        { class: "filters" },
        sides.map(function (s) {
          return s.box;
        })
      )
    );
    host.appendChild(said);
    host.appendChild(v.box);
    apply();
    addEventListener("resize", v.again);
  }

  document.addEventListener("DOMContentLoaded", function () {
    document.querySelectorAll("[data-widget='compare']").forEach(function (host) {
      compare(host.dataset.root, host);
    });
  });
})();
