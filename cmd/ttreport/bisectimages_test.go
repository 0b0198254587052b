package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// The builds of a registry's nightlies are listed in order, between the tags that are named.
func TestBisectImages(t *testing.T) {
	list := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v2/acme/server/tags/list" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, `{"tags": ["latest", "nightly-20260110", "nightly-20251231", "nightly-20260109", "nightly-20260203"]}`)
	}))
	defer list.Close()
	t.Chdir(t.TempDir())
	image := strings.TrimPrefix(list.URL, "http://") + "/acme/server"
	bisect := func(more ...string) (out, problems string) {
		var o, p bytes.Buffer
		args := []string{"bisect", "--dry-run", "--model", "m", "--device", "d", "--workload", "isl=8,osl=8,c=1"}
		run(context.Background(), append(args, more...), strings.NewReader(""), &o, &p)
		return o.String(), p.String()
	}
	out, problems := bisect("--images", image, "--tags", "nightly-*", "--good", "nightly-20260109")
	for _, want := range []string{"0  good  " + image + ":nightly-20260109", "1        " + image + ":nightly-20260110",
		"2  bad   " + image + ":nightly-20260203"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing:\n%s%s", want, out, problems)
		}
	}
	if strings.Contains(out, "20251231") {
		t.Errorf("a build before the good one:\n%s", out)
	}
	c := command("bisect", nil, nil)
	o := bisectOptions{flags: c.Flags()}
	o.declare(c)
	o.Server.Args = []string{"--model", "/m"}
	err := o.flags.Parse([]string{"--images", image, "--container-engine", "podman", "--container-port", "80", "--volume",
		"/m:/m", "--run-arg=--gpus=all", "--budget=1h"})
	if err != nil {
		t.Fatal(err)
	}
	refs, err := o.tagged(t.Context())
	if err == nil || refs != nil {
		t.Errorf("a tag without a date is a build: %v", refs)
	}
	o.tags = "nightly-*"
	if refs, err = o.tagged(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, r := range refs { // each image gets what is for all
		if got := r.server; got.ContainerPort != 80 || got.ContainerEngine != "podman" || got.Args[1] != "/m" ||
			got.Volumes[0] != "/m:/m" || got.RunArgs[0] != "--gpus=all" || got.Image != r.Name {
			t.Errorf("%s is started with %+v", r.Name, got)
		}
	}
	got := (&hunt{o: &o}).command()
	for _, want := range []string{" --container-engine=podman ", " --container-port=80 ", " --volume=/m:/m",
		" --run-arg=--gpus=all ", " -- --model /m"} {
		if !strings.Contains(got, want) || strings.Contains(got, "budget") {
			t.Errorf("the command of the page is %s, without %s", got, want)
		}
	}
	for _, c := range [][]string{
		{`"latest" has no date or version`, "--images", image},
		{"has no such image", "--images", strings.Replace(image, "server", "other", 1)},
		{`has only one tag that matches`, "--images", image, "--tags", "*0203"},
		{`--good must be one of the 4 builds, got "nightly-1"`, "--images", image, "--tags", "nightly-*", "--good",
			"nightly-1"},
		{"must be an image without a tag", "--images", image + ":latest"},
		{"--tags needs --images", "--tags", "v*"},
		{"bisect: --run-arg needs --images or --list", "--run-arg=--gpus=all"},
		{"--images and --list cannot be combined", "--images", image, "--list", "x"},
	} {
		if out, problems := bisect(c[1:]...); !strings.Contains(problems, c[0]) || !strings.Contains(problems, "fix: ") {
			t.Errorf("%v: %s%s", c, out, problems)
		}
	}
}
