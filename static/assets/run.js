// The page of any run: the part of the address after # names it, and perhaps a row or a number: #run-7, #run-7/p3,
// #run-7/p3/ttft. The details of the runs of a release are in a script (site/packed.go says how they are written).
"use strict";
(function () {
  var host,
    root,
    main,
    own, // what the page has when no run is shown
    title,
    painted = [];

  function el(tag, attrs, kids) {
    var e = document.createElement(tag);
    for (var k in attrs || {}) if (attrs[k] != null && attrs[k] !== "") e.setAttribute(k, attrs[k]);
    [].concat(kids == null ? [] : kids).forEach(function (c) {
      e.appendChild(typeof c === "object" ? c : document.createTextNode(c));
    });
    return e;
  }

  // reader gives texts: a number in the place of one is its place in the list of the file.
  function reader(texts) {
    return function (x) {
      return typeof x === "number" ? texts[x] : x || "";
    };
  }

  // picture is an SVG element with a label, and its parts: [tag, attributes].
  function picture(width, height, label, parts) {
    function make(part) {
      var e = document.createElementNS("http://www.w3.org/2000/svg", part[0]);
      for (var k in part[1]) e.setAttribute(k, part[1][k]);
      return e;
    }
    var box = "0 0 " + width + " " + height,
      head = { class: "is-ink", width: width, height: height, viewBox: box, role: "img", "aria-label": label },
      svg = make(["svg", head]);
    parts.forEach(function (part) { svg.appendChild(make(part)); });
    return svg;
  }

  function strip(p, S) {
    return picture(160, 18, S(p[6]), [
      ["path", { class: "ln", d: "M" + p[0] + " 9H" + p[4] }],
      ["path", { class: "box", d: "M" + p[1] + " 4H" + p[3] + "V14H" + p[1] + "z" }],
      ["path", { class: "med", d: "M" + p[2] + " 2V16" }],
      ["circle", { class: "dot", cx: p[5], cy: 9, r: 1.8 }],
    ]);
  }

  // spark is [label, x and y of the last value, path, x and y of values without a neighbour …].
  function spark(p, S) {
    var parts = S(p[3]) ? [["path", { class: "ln", d: S(p[3]) }]] : [];
    for (var i = 4; i < p.length; i += 2) parts.push(["circle", { class: "dot", cx: p[i], cy: p[i + 1], r: 1.5 }]);
    parts.push(["circle", { class: "dot", cx: p[1], cy: p[2], r: 3 }]);
    return picture(116, 30, S(p[0]), parts);
  }

  // below are the statistics under a value: "75.4|74.6|86.7" in a column of "median|p99". A row has room for one of
  // them, the p99 where it is known; the drawer of the number has all.
  function below(names, values) {
    var list = names
      .split("|")
      .map(function (name, i) {
        return values[i] ? (name === "n" ? "n = " : name + " ") + values[i] : "";
      })
      .filter(Boolean);
    return list.length < 2 ? list : [list[0], el("span", { hidden: "hidden" }, ", " + list.slice(1).join(", "))];
  }

  function cell(c, col, layout, S) {
    var o = typeof c === "object" ? c : { t: c },
      parts = S(o.t).split(S(col[4]) ? "|" : "\n\n"),
      flags = o.f == null ? col[5] : o.f,
      sub = (S(o.s) ? [S(o.s)] : []).concat(parts.length > 1 ? below(S(col[4]), parts.slice(1)) : []).filter(Boolean),
      value = document.createTextNode(parts[0]),
      kinds = [],
      stacked = layout === "list" || layout === "key-value",
      numbers = layout === "numbers",
      plain = layout !== "key-value" && !(flags & 8) && !o.o && parts[0],
      kids;
    if (o.o)
      value = el("span", { class: "v " + S(o.o) + " " + S(o.e) }, [parts[0] || S(o.o)].concat(o.e ? [" ", el("small", {}, S(o.e))] : []));
    else if (flags & 2 && parts[0]) value = el("span", { class: "id" }, parts[0]);
    else if (flags & 4) value = el("b", {}, parts[0]);
    if (o.h) value = el("a", { href: (/^https?:/.test(S(o.h)) ? "" : root) + S(o.h) }, value);
    kids = o.p ? [strip(o.p, S)] : o.k ? [spark(o.k, S)] : [value];
    if (o.g) kids.push(" ", el("small", { class: "tag" }, S(o.g)));
    if (sub.length) kids.push(" ", el("small", {}, sub));
    if (numbers ? col[2] && flags & 1 : col[2]) kinds.push("n");
    if (numbers && !col[2] && !(flags & 1)) kinds.push("t");
    if (col[3]) kinds.push(S(col[3]));
    if (flags & 8) kinds.push("why");
    if (o.m) kinds.push("absent");
    return el(
      flags & 1 ? "th" : "td",
      {
        scope: flags & 1 ? "row" : null,
        role: stacked ? (flags & 1 ? "rowheader" : "cell") : null,
        class: kinds.join(" "),
        title: S(o.m),
        "data-l": stacked && !(flags & 1) && (col[2] || col[3] || plain) ? S(col[0]) : null
      },
      kids
    );
  }

  function table(b, S, name, columns) {
    var layout = S(b[1]),
      stacked = layout === "list" || layout === "key-value",
      cols = columns[b[3]],
      head = cols.map(function (c) {
        return el("th", { scope: "col", role: stacked ? "columnheader" : null, class: c[2] ? "n" : null }, [S(c[0])].concat(
          c[1] ? [" ", el("small", {}, S(c[1]))] : []
        ));
      }),
      body = el("tbody", { role: stacked ? "rowgroup" : null });
    b[4].forEach(function (r, i) {
      if (!Array.isArray(r)) {
        body.appendChild(el("tr", { class: "group" }, el("th", { colspan: cols.length, scope: "colgroup" }, S(r))));
        return;
      }
      var anchor = S(b[6]) && S(b[6]) + (i + 1),
        row = el(
          "tr",
          { role: stacked ? "row" : null, id: anchor ? name + "/" + anchor : null },
          r.map(function (c, k) {
            return cell(c, cols[k], layout, S);
          })
        );
      cols.forEach(function (c, k) {
        var td = row.cells[k]; // a number of a point: what is behind it
        if (S(c[6]) && td && /\d/.test(td.firstChild.textContent))
          td.insertBefore(el("a", { href: "#" + name + "/" + anchor + "/" + encodeURIComponent(S(c[6])), class: "at" }, td.firstChild), td.firstChild);
      });
      if (/^[pe]/.test(anchor)) // of a point or a score: its own address
        row.cells[0].insertBefore(el("a", { href: "#" + name + "/" + anchor, class: "at" }, row.cells[0].firstChild), row.cells[0].firstChild);
      body.appendChild(row);
    });
    return [
      el(
        "div",
        { class: "tw", tabindex: "0", role: "region", "aria-label": S(b[2]) },
        el("table", { class: layout, role: stacked ? "table" : null }, [
          el("caption", { class: "vh" }, S(b[2])),
          el("thead", { role: stacked ? "rowgroup" : null }, el("tr", { role: stacked ? "row" : null }, head)),
          body
        ])
      )
    ].concat(b[5] ? [el("p", { class: "more" }, S(b[5]))] : []);
  }

  function block(b, S, name, charts, columns) {
    if (b[0] === "table") return table(b, S, name, columns);
    if (b[0] === "p") return [el("p", { class: "more" }, S(b[1]))];
    if (b[0] === "pre") return [el("pre", { tabindex: "0" }, S(b[1]))];
    var id = S(b[1]);
    charts[id] = b[4];
    return [
      el("figure", { class: "chart" }, [
        el("figcaption", {}, el("b", {}, S(b[2]))),
        el("div", {
          class: "canvas",
          role: "img",
          "aria-label": S(b[3]),
          "data-chart": id,
          "data-root": root,
          "data-id": "run " + name,
          "data-echarts": root + "assets/echarts.min.js"
        })
      ])
    ];
  }

  function paint(page, S, name, columns) {
    clear();
    var charts = {},
      nodes = [],
      crumbs = el("p", { class: "crumb" });
    document.title = S(page[0]) + title.slice(title.indexOf(" · "));
    if (S(page[6])) {
      var mark = el("aside", { class: "marked", "aria-label": "Simulated data" }, el("p", {}, [el("b", {}, "simulated"), " · " + S(page[6])]));
      document.querySelector(".mast").before(mark);
      painted.push(mark);
    }
    (page[7] || []).forEach(function (c, i) {
      if (i) crumbs.appendChild(document.createTextNode(" / "));
      crumbs.appendChild(S(c[1]) ? el("a", { href: root + S(c[1]) }, S(c[0])) : document.createTextNode(S(c[0])));
    });
    nodes.push(crumbs, el("p", { class: "eyebrow" }, S(page[5])));
    var word = S(page[2]) ? [el("span", { class: "v " + S(page[2]) }, S(page[3])), ": "] : [];
    nodes.push(el("div", { class: "lead " + S(page[1]) }, el("h1", {}, word.concat(S(page[4])))));
    (page[8] || []).forEach(function (s) {
      var kids = [el("header", {}, [el("h2", {}, S(s[1]))].concat(s[2] ? el("p", {}, S(s[2])) : []))];
      (s[3] || []).forEach(function (b) {
        kids = kids.concat(block(b, S, name, charts, columns));
      });
      nodes.push(el("section", { id: S(s[0]) }, kids));
    });
    ttreport.shard("run " + name, charts);
    nodes.forEach(function (n) {
      main.appendChild(n);
      painted.push(n);
    });
    main.querySelectorAll("section pre").forEach(ttreport.copyable);
    painted.forEach(function (n) {
      n.querySelectorAll(".tw > table.list").forEach(ttreport.fold);
    });
    own.forEach(function (n) {
      n.hidden = true;
    });
    ttreport.watch(main);
  }

  function clear() {
    painted.forEach(function (n) {
      n.remove();
    });
    painted = [];
    own.forEach(function (n) {
      n.hidden = false;
    });
  }

  function say(text) {
    clear();
    host.querySelector(".more").textContent = text;
  }

  function show() {
    var at = location.hash.slice(1).split("/").slice(0, 2).join("/"), // names have letters, digits and ._~-
      name = at.split("/")[0];
    if (!name || document.getElementById(name)) return say("Choose a release below, and a run in it.");
    ttreport
      .load(host.dataset.root + host.dataset.shard)
      .then(function () {
        var index = ttreport.data("runs"),
          file = Object.prototype.hasOwnProperty.call(index.runs, name) ? index.files[index.runs[name]] : "";
        if (!file) return say("There is no run " + name + " in this site. The list below has the releases.");
        return ttreport.load(root + file).then(function () {
          var shard = ttreport.data(file),
            page = shard.runs[name];
          if (!page) return say("The details of run " + name + " could not be read when this site was built.");
          paint(page, reader(shard.texts), name, shard.columns);
          var row = document.getElementById(at);
          if (row) {
            row.classList.add("here");
            row.scrollIntoView({ block: "center" });
          } else scrollTo(0, 0);
        });
      })
      .catch(function () {
        say("The details of run " + name + " could not be loaded: data/shards/ belongs to the site.");
      });
  }

  // What the drawer paints too.
  ttreport.painter = { el: el, reader: reader, strip: strip, spark: spark, table: table };

  document.addEventListener("DOMContentLoaded", function () {
    host = document.querySelector("[data-widget=run]");
    main = document.getElementById("main");
    root = host.dataset.root;
    title = document.title;
    own = [].slice.call(main.children).concat([].slice.call(document.querySelectorAll(".marked")));
    addEventListener("hashchange", show);
    show();
  });
})();
