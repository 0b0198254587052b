// Addresses of earlier sites: a run had a page of its own, runs/ID/, and is shown by runs/index.html now.
"use strict";
(function () {
  var run = /^(.*\/)runs\/([\w.~-]+)\/(?:index\.html)?$/.exec(location.pathname);
  if (run && run[2] !== "index.html") location.replace(run[1] + "runs/index.html#" + run[2]);
})();
