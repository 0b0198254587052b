// Part of ttreport's preview, never of a published site: reloads a page when a build changed it, where the reader was.
"use strict";
(function () {
  var key = "ttreport-scroll " + location.pathname;
  addEventListener("load", function () {
    try {
      var y = sessionStorage.getItem(key);
      if (y !== null) { sessionStorage.removeItem(key); scrollTo(0, parseFloat(y)); }
    } catch (e) { /* the page starts at its top */ }
  });

  function here() {
    var p = decodeURIComponent(location.pathname).slice(1);
    return p === "" || p.slice(-1) === "/" ? p + "index.html" : p;
  }

  function say(text) {
    var bar = document.getElementById("ttreport-problem");
    if (!text) { if (bar) bar.remove(); return; }
    if (!bar) {
      bar = document.createElement("aside");
      bar.id = "ttreport-problem";
      bar.className = "marked";
      bar.setAttribute("role", "alert");
      document.body.insertBefore(bar, document.body.firstChild);
    }
    bar.textContent = "";
    var b = document.createElement("b"), pre = document.createElement("pre");
    b.textContent = "The last build failed; this is the site before it.";
    pre.textContent = text;
    bar.appendChild(b);
    bar.appendChild(pre);
  }

  new EventSource("/_ttreport/events").onmessage = function (e) {
    var n = JSON.parse(e.data), dir = here().replace(/[^/]*$/, "");
    say(n.problem);
    // A page is concerned by itself, by what is loaded into every page, and by the data beside it.
    var touched = (n.changed || []).some(function (f) {
      return f === here() || f.indexOf("assets/") === 0 || f === dir + "planes.js" ||
        f.indexOf("data/shards/") === 0 && /^explore|^compare/.test(here());
    });
    if (!touched) return;
    try { sessionStorage.setItem(key, String(scrollY)); } catch (err) { /* without the place, then */ }
    location.reload();
  };
})();
