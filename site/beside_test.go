package site_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Compare opens on two sides that have numbers in common, also where nothing was measured twice: on two devices, on two
// tools of one device, or on two models. No page of such a site has a word of a decision.
func TestCompareOpensOnWhatCanBeCompared(t *testing.T) {
	t.Parallel()
	tools := swept("n150")
	for _, p := range tools[0].Points {
		p.Key.Tool = "aiperf"
		tools[0].Points = append(tools[0].Points, p)
	}
	setups := swept("n150") // TP 1 and TP 2 of one device; ROCm and Vulkan differ in the same way
	for i, p := range setups[0].Points {
		setups[0].Points[i].Key.Dims = map[string]string{"tp": "1"}
		p.Key.Dims = map[string]string{"tp": "2"}
		setups[0].Points = append(setups[0].Points, p)
	}
	engines := swept("n150", "n150")
	engines[0].Stack.Engine, engines[1].Stack.Engine = "vllm", "sglang"
	engines[1].Start, engines[1].End = engines[1].Start.AddDate(0, 0, 1), engines[1].End.AddDate(0, 0, 1) // other nights
	engines[0].Scores, engines[1].Scores = nil, nil
	models := swept("n150", "n150")
	models[1].Model.Name, models[1].Model.ID = "other", "acme/other"
	shots := builds(2, "n150") // one model with a task at 0 and at 5 shots, and another one with it at 5
	for i := range shots {
		shots[i].Points = nil
		shots[i].Scores[0].Fewshot = &[]int{0, 5}[i]
	}
	third := builds(1, "n150")[0]
	third.ID, third.Points, third.Model.Name, third.Scores[0].Fewshot = "third", nil, "other", shots[1].Scores[0].Fewshot
	for name, x := range map[string]struct {
		runs []schema.Run
		want string
	}{
		"shots":   {append(shots, third), "model: m → other"},
		"devices": {swept("n150", "t3k"), "device: n150 → t3k"},
		"setups":  {setups, "configuration: m, fp8, tp 1 → m, fp8, tp 2"},
		"engines": {engines, "configuration: vllm, fp8 → sglang, fp8"},
		"tools":   {tools, "tool: vllm → aiperf"},
		"models":  {models, "model: m → other"},
	} {
		_, dir := reportOf(t, x.runs...)
		b := openBrowser(t, dir)
		b.goTo(t, filepath.Join(dir, "compare/index.html"))
		until(t, b, name+" have numbers on both sides",
			`document.querySelector("[role=status]").innerText.indexOf(" on both sides") > 0`)
		differ := eval[string](t, b, `document.querySelector(".chips").innerText`)
		if !strings.Contains(differ, x.want) {
			t.Errorf("%s: A and B differ in %q", name, differ)
		}
		if name == "shots" { // builds without a release are told apart by what they measured
			named := eval[string](t, b, `document.querySelector("select[name=brelease]").selectedOptions[0].text`)
			if !strings.Contains(named, "other on n150, ") {
				t.Errorf("a build is called %q", named)
			}
			continue
		}
		eval[bool](t, b, `(function () {
			var s = document.querySelector("select[name=btool]");
			s.value = "vllm";
			s.dispatchEvent(new Event("change"));
			return true;
		})()`)
		until(t, b, "a choice keeps what the page opened with", `location.hash.indexOf("btool=vllm") > 0`)
		if at := eval[string](t, b, `location.hash`); name == "devices" && !strings.Contains(at, "bdevice=t3k") {
			t.Errorf("a choice lost the devices: %s", at)
		}
		b.quiet(t)
		for _, page := range []string{"compare/index.html", "explore/index.html"} {
			if strings.Contains(read(t, dir, page), "NOT GRADED") {
				t.Errorf("%s of a site without releases says NOT GRADED", page)
			}
		}
	}
}

// On a phone the rows of Explore and Compare are a few lines each, of one height, and nothing scrolls sideways; rows
// that come into view are painted where they belong.
func TestToolsOnAPhone(t *testing.T) {
	t.Parallel()
	dir := shared(t, "Tiny-1B", "n150")
	b := openBrowser(t, dir)
	if err := chromedp.Do(b.ctx, chromedp.EmulateViewport(390, 500)); err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{"explore/index.html", "compare/index.html#all=1"} {
		b.goTo(t, filepath.Join(dir, page))
		const row = `.rows tbody tr:not([aria-hidden])`
		until(t, b, "rows of "+page, `document.querySelectorAll("`+row+`").length > 5`)
		wrong := eval[[]string](t, b, `(function () {
			var box = document.querySelector(".scroll"), out = [];
			if (box.scrollWidth > box.clientWidth) out.push(box.scrollWidth + " px in " + box.clientWidth);
			document.querySelectorAll("`+row+`").forEach(function (r) {
				r.querySelector(".v").textContent = "regressed since v0.13.0";
				var end = r.getBoundingClientRect().bottom;
				if (r.offsetHeight !== 112) out.push("a row of " + r.offsetHeight + " px");
				[...r.cells].forEach(function (c) {
					if (c.querySelector(".v") && c.scrollWidth > c.clientWidth) out.push("cut at its side: " + c.innerText);
					if (c.getClientRects().length && c.getBoundingClientRect().bottom > end) out.push("cut: " + c.innerText);
				});
			});
			return out;
		})()`)
		if len(wrong) > 0 {
			t.Errorf("%s: %q", page, wrong)
		}
		eval[bool](t, b, `(document.querySelector(".scroll").scrollTop = 1e6, true)`)
		until(t, b, "the last row is in view", `(function () {
			var rows = document.querySelectorAll("`+row+`"), last = rows[rows.length - 1],
				box = document.querySelector(".scroll").getBoundingClientRect();
			return +last.getAttribute("aria-rowindex") === +document.querySelector(".rows").getAttribute("aria-rowcount") &&
				Math.abs(last.getBoundingClientRect().bottom - box.bottom) < 3;
		})()`)
	}
	b.quiet(t)
}
