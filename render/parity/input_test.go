package parity_test

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/parity"
)

// What nothing states is null, also in a report for everybody, which has names without their folders.
func TestPublicMetadata(t *testing.T) {
	for image, want := range map[string]string{"": "null", "registry.example/team/vllm:1": `"vllm:1"`} {
		run := schema.Run{ID: "r", Model: schema.Model{ID: "acme/M", Name: "M"}, Stack: schema.Stack{Image: image},
			Points: []schema.Point{point("text", "vllm", nil)}}
		files, err := parity.Files([]parity.Input{{Model: "M", Device: "n150", Public: true, Runs: []schema.Run{run}}})
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, f := range files {
			for _, said := range strings.Split(string(f.Data), `"docker_image": `)[1:] {
				found++
				if !strings.HasPrefix(said, want) {
					t.Errorf("%s: docker_image is %.20s, want %s", f.Path, said, want)
				}
			}
		}
		if found != 4 || strings.Contains(string(files[0].Data), `"runtime_model_spec_json": "."`) {
			t.Errorf("docker_image stands %d times", found)
		}
	}
}
