package site_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
)

// swept are runs on devices whose users get slower as concurrency rises.
func swept(devices ...string) []schema.Run {
	runs := builds(1, devices...)
	for d := range runs {
		runs[d].Model.Precision = "fp8"
		runs[d].Points = nil
		for _, c := range []float64{1, 4, 16} {
			p := fixturePoint("m", 0, c)
			p.Metrics.Put(schema.Of("tpot", "mean", (10+5*c)*float64(d+1)))
			runs[d].Points = append(runs[d].Points, p)
		}
	}
	return runs
}

const planeRows = `[...document.querySelectorAll("[data-plane] tbody tr")].map(function (r) { return r.innerText; })`

// The plane of a model is drawn on the front page, its switches change it and the address, and a link to that address
// shows the same; one tab stop and arrow keys read it.
func TestPlane(t *testing.T) {
	t.Parallel()
	_, dir := reportOf(t, swept("n150", "t3k")...)
	front := read(t, dir, "index.html")
	if want := "At 20 tok/s per user on m: n150 serves about 400 tok/s " +
		"and t3k about 150."; !strings.Contains(front, want) {
		t.Errorf("the front page does not say %q", want)
	}
	b := openBrowser(t, dir)
	b.goTo(t, filepath.Join(dir, "index.html"))
	until(t, b, "the plane is drawn", `document.querySelectorAll("[data-plane] figure svg path.ln").length >= 2`)
	if rows := eval[[]string](t, b, planeRows); len(rows) != 2 || !strings.Contains(rows[0], "\t8.00\t400\t") {
		t.Errorf("best points %q", rows)
	}
	if n := eval[float64](t, b, `document.querySelectorAll("[data-plane] figure [tabindex]").length`); n > 2 {
		t.Errorf("%v tab stops in a plane", n)
	}
	eval[bool](t, b, `(function () {
		var svg = document.querySelector("[data-plane] figure svg");
		svg.focus();
		svg.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true, cancelable: true }));
		return true;
	})()`)
	until(t, b, "an arrow reads a point",
		`document.querySelector("[data-plane] output").innerText.indexOf("concurrency 1:") > 0`)
	eval[bool](t, b, `(function () {
		var s = document.querySelector("[data-plane] select[name=l]");
		s.value = "c4";
		s.dispatchEvent(new Event("change"));
		return true;
	})()`)
	until(t, b, "the devices stand beside each other at one concurrency", planeRows+`.every(function (r) {
		return /\t4\t200\t/.test(r); })`)
	eval[bool](t, b, `(function () {
		var s = document.querySelector("[data-plane] select[name=x]");
		s.value = "ttft";
		s.dispatchEvent(new Event("change"));
		document.querySelector("[data-plane] input[type=checkbox]").click();
		return true;
	})()`)
	until(t, b, "a device is switched off", planeRows+`.length === 1`)
	at := eval[string](t, b, `location.hash`)
	if !strings.HasPrefix(at, "#plane-1=") {
		t.Fatalf("the address is %q", at)
	}
	b.goTo(t, filepath.Join(dir, "evals/index.html"))
	b.goTo(t, filepath.Join(dir, "index.html")+at)
	until(t, b, "the address shows the same", planeRows+`.length === 1 &&
		document.querySelector("[data-plane] select[name=x]").value === "ttft"`)
	b.goTo(t, filepath.Join(dir, "models/m/index.html"))
	until(t, b, "the page of the model has it too", planeRows+`.length === 2`)
	b.sideways(t, "the page of a model")
	b.goTo(t, filepath.Join(dir, "models/m/n150/index.html"))
	until(t, b, "the page of a device has its releases", planeRows+`.length === 1 &&
		document.querySelector("[data-plane] thead th").innerText === "Release"`)
	b.quiet(t)
}

// Money is what a million tokens cost; the headline and the table follow what is chosen, every digit of the axis is in
// the picture, and what never leaves the limit keeps its number.
func TestPlaneOfMoney(t *testing.T) {
	t.Parallel()
	prices := render.Prices{Currency: "USD", Hour: map[string]float64{"n150": 3600, "t3k": .36}}
	_, dir := reportWith(t, prices, swept("n150", "t3k")...)
	w := openBrowser(t, dir)
	w.goTo(t, filepath.Join(dir, "index.html"))
	until(t, w, "the plane is drawn", planeRows+`.length === 2`)
	const h1 = `document.querySelector("h1").innerText`
	before := eval[string](t, w, h1)
	choose(t, w, "y", "price")
	until(t, w, "the cheaper one first, in the headline too", planeRows+`[0].indexOf("t3k") >= 0 &&
		/^At 20 tok\/s per user on m.*: t3k costs 0\.\d+ USD per 1M output tokens and n150 2,500\./.test(`+h1+`)`)
	if cut := eval[[]string](t, w, `[...document.querySelectorAll("[data-plane] figure svg text")].filter(e =>
		e.getBoundingClientRect().left < e.closest("svg").getBoundingClientRect().left)
		.map(e => e.textContent)`); len(cut) > 0 {
		t.Errorf("cut at the left: %q", cut)
	}
	eval[bool](t, w, `(function () {
		var s = document.querySelector("[name=slo]");
		s.value = 0;
		s.dispatchEvent(new Event("input"));
		return true;
	})()`)
	until(t, w, "the service level in headline and table", `/^At 5 tok/.test(`+h1+`) || !/^At 20 tok/.test(`+h1+`)`)
	choose(t, w, "y", "input")
	until(t, w, "input", `/per 1M input tokens/.test(`+h1+`)`)
	w.goTo(t, filepath.Join(dir, "evals/index.html"))
	w.goTo(t, filepath.Join(dir, "index.html"))
	until(t, w, "the sentence of the page where nothing is chosen", h1+` === `+fmt.Sprintf("%q", before))
	w.quiet(t)
}

// planeOf is the plane on the page of a model.
func planeOf(t *testing.T, r *render.Report, model string) *render.Plane {
	t.Helper()
	for _, s := range r.ModelPage(model).Sections {
		for _, b := range s.Blocks {
			if p, ok := b.(*render.Plane); ok {
				return p
			}
		}
	}
	t.Fatalf("the page of %s has no plane", model)
	return nil
}

// Loads that are not alike are not averaged: a rate beside a concurrency is another workload, rates and concurrencies
// are lines of their own, and so are runs on another number of chips. A latency of 0 is none.
func TestPlaneKeepsLoadsApart(t *testing.T) {
	t.Parallel()
	runs := builds(2, "n150")
	runs[0].Device.Chips, runs[1].Device.Chips = 4, 8
	load := func(concurrency, rate, output float64) schema.Point {
		p := fixturePoint("m", 0, concurrency)
		if concurrency == 0 {
			p.Key.Concurrency = nil
		}
		if rate > 0 {
			p.Key.Rate = &rate
		}
		p.Metrics.Put(schema.Of("output_tps", "value", output))
		p.Metrics.Put(schema.Of("ttft", "mean", 0))
		return p
	}
	runs[0].Points = []schema.Point{load(32, 1, 100), load(32, 4, 400), load(8, 0, 80), load(0, 2, 20)}
	runs[1].Points = []schema.Point{load(8, 0, 160)}
	r, _ := reportOf(t, runs...)
	got := map[string]float64{}
	for _, l := range planeOf(t, r, "m").Lines {
		for _, p := range l.Points {
			got[l.Name+"; "+l.Workload+"; "+p.Load] = *p.Values[0]
			if p.Values[2] != nil {
				t.Errorf("%s: TTFT %v of a value of 0", l.Name, *p.Values[2])
			}
		}
	}
	want := map[string]float64{
		"n150, 4 chips; 128/128 1 req/s; 32": 100, "n150, 4 chips; 128/128 4 req/s; 32": 400,
		"n150, 4 chips; 128/128; 8": 80, "n150, 4 chips; 128/128; 2/s": 20, "n150, 8 chips; 128/128; 8": 160,
	}
	if !maps.Equal(got, want) {
		t.Errorf("points\n%v\nwant\n%v", got, want)
	}
}

// Tensor and expert parallelism, precision and engine are switches of their own; one that is off leaves its lines out.
func TestPlaneSwitches(t *testing.T) {
	t.Parallel()
	runs := builds(1, "n150")
	shared := runs[0]
	runs = nil
	for i, how := range [][4]string{{"4", "1", "fp8", "vllm"}, {"8", "1", "fp8", "sglang"}, {"8", "8", "fp4", "vllm"}} {
		run := shared
		run.ID = "run-" + how[0] + how[1]
		run.Model.Precision, run.Stack.Engine = how[2], how[3]
		run.Points = nil
		for _, c := range []float64{1, 8} {
			p := fixturePoint("m", i, c)
			p.Key.Dims = map[string]string{"tp": how[0], "ep": how[1]}
			run.Points = append(run.Points, p)
		}
		runs = append(runs, run)
	}
	_, dir := reportOf(t, runs...)
	b := openBrowser(t, dir)
	b.goTo(t, filepath.Join(dir, "index.html"))
	until(t, b, "three configurations", planeRows+`.length === 3`)
	legends := `[...document.querySelectorAll("[data-plane] legend")].map(function (e) { return e.innerText; })`
	want := "Engine Precision Tensor parallel Expert parallel"
	if got := strings.Join(eval[[]string](t, b, legends), " "); got != want {
		t.Errorf("switches %q, want %q", got, want)
	}
	off := func(kind, value string) {
		eval[bool](t, b, `([...document.querySelectorAll("[data-plane] fieldset")].find(function (f) {
			return f.innerText.indexOf("`+kind+`") === 0;
		}).querySelectorAll("label").forEach(function (l) {
			if (l.innerText.trim() === "`+value+`") l.querySelector("input").click();
		}), true)`)
	}
	off("Expert parallel", "8")
	until(t, b, "one expert-parallel configuration less", planeRows+`.length === 2`)
	off("Tensor parallel", "4")
	until(t, b, "one configuration is left", planeRows+`.length === 1`)
	at := eval[string](t, b, `location.hash`)
	b.goTo(t, filepath.Join(dir, "evals/index.html"))
	b.goTo(t, filepath.Join(dir, "index.html")+at)
	until(t, b, "the address shows the same", planeRows+`.length === 1`)
	b.quiet(t)
}

// A name in a plane lies beside the lines, never on one, with one line that falls and with three that cross.
func TestNamesLieBesideLines(t *testing.T) {
	t.Parallel()
	for _, devices := range [][]string{{"a-device-with-a-long-name"}, {"n150", "t3k", "galaxy"}} {
		_, dir := reportOf(t, swept(devices...)...)
		b := openBrowser(t, dir)
		for _, width := range []int64{1280, 390} {
			if err := chromedp.Do(b.ctx, chromedp.EmulateViewport(width, 900)); err != nil {
				t.Fatal(err)
			}
			b.goTo(t, filepath.Join(dir, "index.html"))
			until(t, b, "the plane is drawn", `document.querySelectorAll("[data-plane] figure svg path.ln").length > 0`)
			const crossed = `[...document.querySelectorAll("[data-plane] figure svg")].flatMap(function (svg) {
				return [...svg.querySelectorAll("text.lbl")].filter(function (text) {
					var box = text.getBBox();
					return [...svg.querySelectorAll("path.ln")].some(function (line) {
						for (var at = 0; at < line.getTotalLength(); at += 2) {
							var p = line.getPointAtLength(at);
							if (p.x > box.x && p.x < box.x + box.width && p.y > box.y + 2 && p.y < box.y + box.height - 2) return true;
						}
					});
				}).map(function (text) { return text.textContent; });
			})`
			if found := eval[[]string](t, b, crossed); len(found) > 0 {
				t.Errorf("%d px, %v: names on lines: %q", width, devices, found)
			}
			named := eval[float64](t, b, `document.querySelectorAll("[data-plane] figure svg text.lbl").length`)
			if named < float64(len(devices)) {
				t.Errorf("%d px, %v: %v names", width, devices, named)
			}
		}
		b.quiet(t)
	}
}
