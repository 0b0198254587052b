// Search by name: models, devices, releases and the documentation. A dialog that opens with "/".
"use strict";
(function () {
  var MOST = 12,
    dialog,
    input,
    list,
    hits = [],
    at = 0,
    el = ttreport.el;

  // score is how well an entry fits the words that were typed; 0 where one of them is missing.
  function score(name, words) {
    var n = name.toLowerCase(),
      sum = 0;
    for (var i = 0; i < words.length; i++) {
      var k = n.indexOf(words[i]);
      if (k < 0) return 0;
      sum += k === 0 ? 3 : /[^a-z0-9]/.test(n[k - 1]) ? 2 : 1;
    }
    return sum + 1 / (1 + n.length);
  }

  // names reports whether a word names a workload, "1024/128/32", in a form that people type: 1024/128, isl=1024, c32.
  function names(word, load) {
    var parts = load.split("/"),
      one = /^(isl|osl|c(?:onc(?:urrency)?)?)[=:]?(\d*)$/.exec(word);
    if (one) return !one[2] || parts[{ isl: 0, osl: 1 }[one[1]] ?? 2] === one[2];
    return /^\d[\dx/]*$/.test(word) ? ("/" + load + "/").includes("/" + word.replace(/x/g, "/") + "/") : load.toLowerCase().includes(word);
  }

  // loads are the workloads of a model on a device that the words name which its own name does not have; with a metric
  // among the words, its series.
  function loads(e, i, words) {
    var own = words.filter(w => e.n.toLowerCase().includes(w)),
      rest = words.filter(w => !own.includes(w));
    if (!e.w || !rest.length) return [];
    var of = w => (e.m || []).filter(m => m.toLowerCase().includes(w)),
      named = rest.filter(w => of(w).length),
      metrics = (e.m || []).filter(m => named.every(w => of(w).includes(m))),
      fit = e.w.filter(l => rest.every(w => named.includes(w) || names(w, l)));
    if (named.length)
      return fit.filter(l => /^\d/.test(l)).flatMap(l => metrics.map(m => ({ i, s: 1 + score(e.n, own), e: { k: "series", n: e.n + ": " + m + " " + l, p: e.s + "&w=" + encodeURIComponent(l) + "&k=" + encodeURIComponent(m) } })));
    return fit.map(l => ({ i, s: 1 + score(e.n, own), e: { k: "workload", n: e.n + ": " + l, p: e.x + "&q=" + encodeURIComponent(l) } }));
  }

  function find(all) {
    var words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    hits = all
      .flatMap((e, i) => {
        var s = words.length ? score(e.n, words) : 1;
        return s ? [{ e, i, s }] : loads(e, i, words);
      })
      .sort((a, b) => b.s - a.s || a.i - b.i);
    at = 0;
  }

  function paint(root) {
    list.textContent = "";
    hits.slice(0, MOST).forEach((h, i) => {
      var li = el("li", { role: "presentation" }),
        a = el("a", { role: "option", id: "found-" + i, "aria-selected": String(i === at), href: root + h.e.p, tabindex: "-1" });
      a.appendChild(el("small", {}, h.e.k));
      a.appendChild(document.createTextNode(h.e.n));
      li.appendChild(a);
      list.appendChild(li);
    });
    dialog.querySelector("[role=status]").textContent =
      hits.length > MOST ? MOST + " of " + hits.length.toLocaleString("en-US") + " shown" : hits.length ? "" : "Nothing has this name.";
    if (hits.length) input.setAttribute("aria-activedescendant", "found-" + at);
    else input.removeAttribute("aria-activedescendant");
  }

  function make(root, all) {
    dialog = el("dialog", { class: "search", "aria-label": "Search" });
    input = el("input", {
      type: "search", role: "combobox", "aria-label": "Model, device, workload, release or page", "aria-controls": "found",
      "aria-expanded": "true", placeholder: "Model, device, workload, release, help …", autocomplete: "off"
    });
    list = el("ul", { id: "found", role: "listbox", "aria-label": "Found" });
    dialog.append(input, list, el("p", { class: "more", role: "status" }));
    input.addEventListener("input", () => {
      find(all);
      paint(root);
    });
    dialog.addEventListener("keydown", (e) => {
      var n = Math.min(MOST, hits.length);
      if (e.key === "Enter" && hits[at]) {
        dialog.close();
        location.href = root + hits[at].e.p;
      } else if ((e.key === "ArrowDown" || e.key === "ArrowUp") && n) {
        at = (at + (e.key === "ArrowDown" ? 1 : n - 1)) % n;
        paint(root);
      } else return;
      e.preventDefault();
    });
    dialog.addEventListener("click", (e) => {
      if (e.target === dialog || e.target.closest("a")) dialog.close();
    });
    document.body.appendChild(dialog);
  }

  ttreport.search = function (root) {
    return ttreport.load(root + "data/shards/search.js").then(() => {
      var all = ttreport.data("search");
      if (!dialog) make(root, all);
      input.value = "";
      find(all);
      paint(root);
      if (!dialog.open) dialog.showModal();
      input.focus();
    });
  };
})();
