// Enhancement only: theme, sorting, drawers. Every page reads without it.
"use strict";
(function () {
  var root = document.documentElement,
    key = "ttreport-theme",
    modes = ["auto", "light", "dark"];
  function stored() {
    try {
      return localStorage.getItem(key) || "auto";
    } catch (e) {
      return "auto";
    }
  }
  function apply(m) {
    if (m === "auto") root.removeAttribute("data-theme");
    else root.setAttribute("data-theme", m);
  }
  var asked = new URLSearchParams(location.search).get("theme");
  var mode = modes.indexOf(asked) > 0 ? asked : stored();
  apply(mode); // before the first paint

  var shards = {},
    waiting = {};
  // Data files are scripts that call this: pages opened from disk can load no other kind of data.
  window.ttreport = {
    shard: (id, data) => (shards[id] = data),
    packed: (id, text) => {
      document.currentScript.unpacking = unpacked(text).then(s => (shards[id] = s[0] === "<" ? s : JSON.parse(s)));
    },
    load,
    data: id => shards[id],
    csv,
    offer,
    el,
    ink,
    svg,
    button,
    copying,
    digits,
    signed,
    percent: c => signed(c, "%"),
    count,
    copyable,
    fold,
    read,
    hash,
    write
  };

  function load(src) {
    if (!waiting[src])
      waiting[src] = new Promise((ok, no) => {
        var s = document.createElement("script");
        s.src = src;
        s.onload = () => ok(s.unpacking);
        s.onerror = no;
        document.head.appendChild(s);
      });
    return waiting[src];
  }

  // unpacked is the text of data that are packed by gzip, in base64.
  async function unpacked(text) {
    var raw = atob(text),
      bytes = new Uint8Array(raw.length);
    for (var i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i); // a tenth of the time of Uint8Array.from
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  }

  // el makes an element; attributes that are null or false are left out.
  function el(tag, attrs, kids) {
    var e = document.createElement(tag);
    for (var k in attrs || {}) if (attrs[k] != null && attrs[k] !== false) e.setAttribute(k, attrs[k]);
    e.append(...[].concat(kids == null ? [] : kids));
    return e;
  }

  // ink adds a part to a picture.
  function ink(to, tag, attrs, text) {
    var e = to.appendChild(document.createElementNS("http://www.w3.org/2000/svg", tag));
    for (var k in attrs) e.setAttribute(k, attrs[k]);
    if (text != null) e.textContent = text;
    return e;
  }

  // svg is an empty picture.
  function svg(width, height, attrs) {
    return ink(document.createDocumentFragment(), "svg", Object.assign({ viewBox: "0 0 " + width + " " + height }, attrs));
  }

  function button(text, act) {
    var b = el("button", { type: "button", class: "copy" }, text);
    b.addEventListener("click", act);
    return b;
  }

  // copying is a button that puts a text into the clipboard.
  function copying(text, what) {
    var b = button(text, () =>
      navigator.clipboard.writeText(what()).then(() => {
        b.textContent = "Copied";
        setTimeout(() => (b.textContent = text), 2000);
      }, () => (b.textContent = "Not allowed here"))
    );
    b.hidden = !navigator.clipboard;
    return b;
  }

  // The address holds what was chosen, so that a link shows the same and back undoes it.
  function read() {
    var o = {};
    location.hash
      .slice(1)
      .split("&")
      .forEach((p) => {
        var i = p.indexOf("=");
        if (i > 0)
          try {
            o[p.slice(0, i)] = decodeURIComponent(p.slice(i + 1));
          } catch (e) {
            /* a broken address says nothing */
          }
      });
    return o;
  }
  function hash(o) {
    return "#" + Object.keys(o).filter(k => o[k]).map(k => k + "=" + encodeURIComponent(o[k])).join("&");
  }
  function write(o, push) {
    var to = hash(o);
    if (to !== (location.hash || "#"))
      history[push ? "pushState" : "replaceState"](null, "", to.length > 1 ? to : location.pathname + location.search);
  }

  // Every number is an address: #run-7/p3/ttft opens what is behind it, on any page; #run-7/e2/acc that of a score. A link to the number on the page of
  // its run opens it here.
  var script = document.currentScript,
    base = script && script.src ? script.src.slice(0, script.src.lastIndexOf("assets/")) : "",
    drawers = (script && script.dataset.drawer) || "",
    opener;
  function numberIn(hash) {
    var m = drawers ? /^#([\w.~-]+)\/([pe]\d+)\/([^/&=]+)(?:\/([\w.]+))?$/.exec(hash) : null;
    try {
      if (m) m[3] = decodeURIComponent(m[3]);
    } catch (e) {
      return null; // a broken address says nothing
    }
    return m;
  }
  function drawer() {
    var m = numberIn(location.hash);
    if (!m && !ttreport.drawer) return;
    drawers // one after the other: the second needs the first
      .split(" ")
      .reduce((done, name) => done.then(() => load(base + "assets/" + name)), Promise.resolve())
      .then(() => {
        m = numberIn(location.hash);
        if (m) ttreport.drawer.show(base, m[1], m[2], m[3], m[4] || "", opener);
        else ttreport.drawer.hide();
      });
  }
  function follow(e) {
    var a = e.target.closest && e.target.closest("a[href]");
    if (!a || e.defaultPrevented || e.button || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
    if (!numberIn(a.hash) || a.href.split("#")[0] !== base + "runs/index.html") return;
    e.preventDefault();
    opener = a;
    if (numberIn(location.hash)) history.replaceState(history.state, "", a.hash); // Close leaves all numbers at once
    else history.pushState({ drawer: 1 }, "", a.hash);
    drawer();
  }

  // offer puts a file into the reader's hands; what is in it is what the page shows.
  function offer(name, type, data) {
    var url = URL.createObjectURL(new Blob([data], { type }));
    el("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }

  function cell(v) {
    var s = v == null ? "" : String(v);
    if (/^[=+@\t\r]|^-[^\d]/.test(s)) s = "'" + s; // no spreadsheet takes it for a formula
    return /[",\n]/.test(s) ? '"' + s.replace(/"/g, '""') + '"' : s;
  }

  // csv is rows of values as a file.
  function csv(lines) {
    return lines.map(l => l.map(cell).join(",")).join("\n") + "\n";
  }

  // signed is a share in percent, or in points, with its sign.
  function signed(share, unit) {
    var s = Math.abs(share * 100).toFixed(1);
    return (s === "0.0" ? "±" : share < 0 ? "−" : "+") + s + "\u202f" + unit;
  }
  function count(n, noun) {
    return n.toLocaleString("en-US") + " " + noun + (n === 1 ? "" : "s");
  }

  // digits writes a value with three significant digits, as package words does.
  function digits(v) {
    var a = Math.abs(v);
    if (a >= 999.5) return Math.round(v).toLocaleString("en-US").replace("-", "−");
    return v.toPrecision(3).indexOf("e") < 0 ? v.toPrecision(3).replace("-", "−") : String(v);
  }

  // copyable puts a button behind a command.
  function copyable(pre) {
    var box = el("div", { class: "command" });
    pre.replaceWith(box);
    box.append(pre, copying("Copy", () => pre.textContent.replace(/\n$/, "")));
  }

  function search() {
    var button = document.getElementById("search");
    load(base + "assets/" + button.dataset.search)
      .then(() => ttreport.search(base))
      .catch(() => {
        var said = button.parentNode.querySelector("[role=alert]") || document.createElement("span");
        said.setAttribute("role", "alert");
        said.className = "more";
        said.textContent = "The names could not be loaded: data/shards/ belongs to the site.";
        button.insertAdjacentElement("afterend", said);
      });
  }

  // fold puts a button under a list, or small charts, of which a phone shows the first (site.css).
  function fold(list) {
    var rows = list.tBodies,
      box = rows ? list.parentNode : list,
      n = (rows ? rows[0] : list).children.length,
      b = el("button", { type: "button", class: "rest" }, "Show all " + n);
    if (n < 6) return;
    b.addEventListener("click", () => {
      box.classList.add("whole");
      b.remove();
    });
    box.after(b);
  }

  // sortable lets the heads of a table sort it. The order is in the address: sort-changed=Change:down.
  function sortable(table) {
    var section = table.closest("section"),
      heads = table.querySelectorAll("th[data-sort]"),
      body = table.tBodies[0],
      first = [].slice.call(body.rows),
      n = section ? [].indexOf.call(section.querySelectorAll("table"), table) : 0,
      shown = "",
      key = "sort-" + ((section && section.id) || "table") + (n ? n + 1 : "");
    if (!heads.length) return;
    function head(th) {
      return th.textContent.trim();
    }
    function order() {
      var asked = read()[key] || "",
        down = /:down$/.test(asked),
        want = asked.replace(/:down$/, ""), // a name may have colons
        list = first.slice(),
        col = -1;
      if (asked === shown) return; // what moves loses the focus
      shown = asked;
      heads.forEach((th) => {
        th.removeAttribute("aria-sort");
        if (head(th) !== want) return;
        col = th.cellIndex;
        th.setAttribute("aria-sort", down ? "descending" : "ascending");
      });
      function val(r) {
        var v = r.cells[col] ? parseFloat(r.cells[col].dataset.v) : NaN;
        return isNaN(v) ? -Infinity : v;
      }
      if (col >= 0)
        list.sort((p, q) => {
          var a = val(p),
            b = val(q);
          return (a < b ? -1 : a > b ? 1 : 0) * (down ? -1 : 1);
        });
      list.forEach((r) => {
        body.appendChild(r);
      });
    }
    heads.forEach((th) => {
      var b = el("button", { type: "button" });
      while (th.firstChild && th.firstChild.nodeName !== "SMALL") b.append(th.firstChild);
      th.prepend(b); // before its unit
      b.addEventListener("click", () => {
        var state = read();
        state[key] = head(th) + (th.getAttribute("aria-sort") === "descending" ? "" : ":down");
        write(state, true);
        order();
      });
    });
    order();
    addEventListener("popstate", order);
    addEventListener("hashchange", order);
  }

  document.addEventListener("DOMContentLoaded", () => {
    var button = document.getElementById("theme");
    function label() {
      button.textContent = "Theme: " + mode;
    }
    if (button) {
      button.hidden = false;
      label();
      button.addEventListener("click", () => {
        mode = modes[(modes.indexOf(mode) + 1) % 3];
        apply(mode);
        label();
        try {
          localStorage.setItem(key, mode);
        } catch (e) {
          /* the choice lasts this page */
        }
      });
    }

    document.addEventListener("click", follow);
    addEventListener("hashchange", drawer);
    addEventListener("popstate", drawer);
    drawer();

    // Commands are copied as they stand.
    document.querySelectorAll("pre").forEach(copyable);

    // Ages are of the moment of reading: no page knows when it was made.
    document.querySelectorAll("[data-age]").forEach((e) => {
      var h = (Date.now() - Date.parse(e.dataset.age)) / 36e5,
        n = Math.floor(h < 48 ? h : h / 24);
      if (h >= 1) e.textContent = "Newest run " + n.toLocaleString("en-US") + (h < 48 ? " hour" : " day") + (n === 1 ? "" : "s") + " old.";
      else if (h >= 0) e.textContent = "Newest run less than an hour old.";
    });

    // Sorting: a cell may carry data-v, larger is worse. Not where rows are paragraphs.
    if (matchMedia("(min-width: 860px)").matches) document.querySelectorAll("main table").forEach(sortable);
    document.querySelectorAll(".tw > table.list").forEach(fold);

    var find = document.getElementById("search");
    if (find) {
      find.hidden = false;
      find.addEventListener("click", search);
      document.addEventListener("keydown", (e) => {
        if (e.key !== "/" || e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) return;
        e.preventDefault();
        search();
      });
    }
  });
})();
