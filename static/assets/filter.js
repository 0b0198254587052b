// Filters above a table whose rows are all on the page: a text, and a choice for each column that offers one. What was
// chosen is in the address.
"use strict";
(function () {
  var el = ttreport.el;
  function filter(table) {
    var rows = [].slice.call(table.tBodies[0].rows),
      id = table.closest("section").id,
      form = el("form", { class: "filters", role: "search" }),
      said = el("p", { class: "more", role: "status" }),
      box = table.parentNode,
      rest = box.nextElementSibling,
      most = matchMedia("(max-width: 859px)").matches ? 20 : 200, // rows until all are asked for
      fields = [];
    if (rest && rest.className === "rest") rest.remove();
    box.classList.add("whole");
    rest = ttreport.button("", () => {
      most = Infinity;
      apply();
    });
    // value is what a cell is about, without what stands below it.
    function value(row, k) {
      var c = row.cells[k].firstChild;
      return c ? c.textContent.trim() : "";
    }
    function field(name, input, has) {
      input.name = name;
      form.append(el("label", {}, [name, input]));
      fields.push({ key: id + "-" + name, input, has });
      input.addEventListener(input.type === "search" ? "input" : "change", () => {
        var now = ttreport.read();
        now[id + "-" + name] = input.value;
        ttreport.write(now);
        apply();
      });
    }
    function apply() {
      var now = ttreport.read(),
        n = 0;
      fields.forEach((f) => {
        if (f.input.value !== (now[f.key] || "")) f.input.value = now[f.key] || "";
      });
      rows.forEach((r) => {
        r.hidden = !fields.every(f => !f.input.value || f.has(r, f.input.value)) || ++n > most;
      });
      rest.hidden = n <= most;
      rest.textContent = "Show all " + n.toLocaleString("en-US");
      said.textContent = n.toLocaleString("en-US") + " of " + rows.length.toLocaleString("en-US") + (rows.length === 1 ? " row" : " rows");
    }
    if (rows.length > 3) field("Text", el("input", { type: "search" }), (r, v) => v.toLowerCase().split(/\s+/).every(w => r.textContent.toLowerCase().includes(w)));
    table.querySelectorAll("th[data-f]").forEach((th) => {
      var values = new Map(),
        select = el("select"),
        k = th.cellIndex;
      rows.forEach(r => values.set(value(r, k), (values.get(value(r, k)) || 0) + 1));
      if (values.size < 2) return;
      select.append(new Option("any", ""));
      Array.from(values.keys()).sort((a, b) => a.localeCompare(b, "en", { numeric: true })).forEach((v) => {
        if (v) select.append(new Option(v + " (" + values.get(v) + ")", v));
      });
      field(th.firstChild.textContent.trim(), select, (r, v) => value(r, k) === v);
    });
    if (!fields.length) return;
    box.before(form, said);
    box.after(rest);
    apply();
    addEventListener("popstate", apply);
    addEventListener("hashchange", apply);
  }
  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("table[data-filter]").forEach(filter);
  });
})();
