// The page of any run: the part of the address after # names it, and perhaps a row or a number: #run-7, #run-7/p3,
// #run-7/p3/ttft. The pages of the runs of a release are HTML in a script, an article each.
"use strict";
(function () {
  var host,
    main,
    own, // what the page has when no run is shown
    title,
    shown = [];

  // run finds the article of a run, and where its release is; a reason why there is none in its place. What the release
  // says of the numbers of the run is loaded too where it is asked for.
  ttreport.run = async function (root, name, judged) {
    await ttreport.load(root + "data/shards/runs.js");
    var index = ttreport.data("runs"),
      file = Object.prototype.hasOwnProperty.call(index.runs, name) ? index.files[index.runs[name]] : "",
      release = index.releases[index.of[index.runs[name]]],
      one = document.createElement("template");
    if (!file) return { why: "There is no run " + name + " in this site." };
    await Promise.all([ttreport.load(root + file), judged && ttreport.load(root + release.shard)]);
    var all = ttreport.data(file),
      at = all.indexOf('<article id="' + name + '"');
    if (at < 0) return { why: "The details of run " + name + " could not be read when this site was built." };
    one.innerHTML = all.slice(at, all.indexOf("</article>", at));
    return { page: one.content.firstElementChild, release };
  };

  // below leaves a row room for one statistic under a value, the p99 where it is known; the drawer of the number has all.
  function below(small) {
    var list = small.textContent.split(", "),
      rest = list.slice(1).map(s => ", " + s);
    if (rest.length) small.replaceChildren(list[0], ttreport.el("span", { hidden: "" }, rest));
  }

  // reached makes the first thing in a cell a link within the page.
  function reached(cell, hash) {
    var a = ttreport.el("a", { class: "at", href: hash });
    cell.insertBefore(a, cell.firstChild);
    a.appendChild(a.nextSibling);
  }

  function paint(page, name) {
    clear();
    document.title = page.dataset.title + title.slice(title.indexOf(" · "));
    page.querySelectorAll("tbody tr[id]").forEach((row) => {
      var to = "#" + name + "/" + row.id,
        heads = row.closest("table").tHead.rows[0].cells;
      row.id = to.slice(1);
      if (!/[pe]\d+$/.test(to)) return;
      [].forEach.call(row.cells, (cell, k) => {
        var metric = heads[k].dataset.m,
          small = cell.querySelector("small");
        if (!metric || cell.matches(".absent")) return; // what stands there is the reason why there is no number
        reached(cell, to + "/" + encodeURIComponent(metric));
        if (small) below(small);
      });
      reached(row.cells[0], to);
    });
    shown = [].slice.call(page.children);
    shown.forEach(e => (e.matches("aside") ? document.querySelector(".mast").before(e) : main.append(e)));
    main.querySelectorAll("section pre").forEach(ttreport.copyable);
    main.querySelectorAll(".tw > table.list").forEach(ttreport.fold);
    own.forEach(e => (e.hidden = true));
  }

  function clear() {
    shown.forEach(e => e.remove());
    shown = [];
    own.forEach(e => (e.hidden = false));
  }

  function say(text) {
    clear();
    host.querySelector(".more").textContent = text;
  }

  function show() {
    var at = location.hash.slice(1).split("/").slice(0, 2).join("/"), // names have letters, digits and ._~-
      name = at.split("/")[0];
    if (!name || document.getElementById(name)) return say("Choose a release below, and a run in it.");
    ttreport.run(host.dataset.root, name).then(
      (found) => {
        if (!found.page) return say(found.why + " The list below has the releases.");
        paint(found.page, name);
        var row = document.getElementById(at);
        if (row) row.classList.add("here");
        if (row) row.scrollIntoView({ block: "center" });
        else scrollTo(0, 0);
      },
      () => say("The details of run " + name + " could not be loaded: data/shards/ belongs to the site.")
    );
  }

  document.addEventListener("DOMContentLoaded", () => {
    host = document.querySelector("[data-widget=run]");
    main = document.getElementById("main");
    title = document.title;
    own = [].slice.call(main.children).concat([].slice.call(document.querySelectorAll(".marked")));
    addEventListener("hashchange", show);
    show();
  });
})();
