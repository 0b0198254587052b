package plan

import (
	"strings"
	"testing"
	"time"
)

func readResources(t *testing.T, text string) (Resources, error) {
	t.Helper()
	f, err := Read("p.yaml", []byte("plans:\n- model: m\n  resources:\n    "+text+"\n"))
	if err != nil {
		return Resources{}, err
	}
	return f.Plans[0].Resources, nil
}

func TestResourcesAreReadStrictly(t *testing.T) {
	r, err := readResources(t, `{partition: gpu, gres: "gpu:h100:8", cpus: 16, mem: 64G, time: 2:00:00, exclusive: true,
      constraint: "h100&nvlink", nodelist: "n[1-4],x7", modules: [cuda/12.4], retries: 0}`)
	if err != nil || r.GRES != "gpu:h100:8" || r.CPUs != "16" || r.TimeLimit() != 2*time.Hour || r.MostRetries() != 0 ||
		r.Exclusive != "true" || len(r.Modules) != 1 || r.Nodelist != "n[1-4],x7" {
		t.Fatalf("%v %+v", err, r)
	}
	for text, want := range map[string]string{
		"gress: gpu:8":                  `unknown field "gress"; the fields are partition, `,
		"gres:":                         "gres is empty; leave it out, or give a value, as in gres: gpu:h100:8",
		`gres: ""`:                      "gres is empty",
		`gres: "gpu:"`:                  `gres: "gpu:" does not have the form`,
		"gres: gpu:h100:0":              "gres: ",
		"cpus: 0":                       `cpus: "0" does not have the form that Slurm takes, as in cpus: 16`,
		"cpus: -4":                      "cpus: ",
		"mem: 64 GB":                    `mem: "64 GB" does not have the form that Slurm takes, as in mem: 64G`,
		"time: 2h":                      "as in time: 2:00:00",
		"exclusive: maybe":              "as in exclusive: true",
		"modules: []":                   "modules is empty",
		"partition: [a, b]":             "partition takes one value",
		`partition: "a\n#SBATCH --x"`:   "partition: ",
		`account: "x --wrap=evil"`:      "account: ",
		`modules: ["cuda; rm -rf /"]`:   "modules: ",
		"3":                             "is not fields with values",
		"{retries: two}":                "retries: ",
		`constraint: "a b"`:             "constraint: ",
		`nodelist: "$(id)"`:             "nodelist: ",
		`reservation: "x\u0000"`:        "reservation: ",
		`{exclude: n1, excluded: n1}`:   `unknown field "excluded"`,
		`{gres: "gpu:1", qos: "'a' b"}`: "qos: ",
	} {
		if _, err := readResources(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestResourcesOfADevice(t *testing.T) {
	by := map[string]Resources{"h100": {Partition: "gpu", GRES: "gpu:h100:1", Modules: []string{"cuda"}}}
	got := ResourcesOf(Resources{GRES: "gpu:h100:8"}, by, "H100")
	if got.GRES != "gpu:h100:8" || got.Partition != "gpu" || len(got.Modules) != 1 {
		t.Errorf("%+v", got)
	}
	if other := ResourcesOf(Resources{}, by, "n150"); other.Partition != "" {
		t.Errorf("%+v", other)
	}
}

func TestSlurmTimes(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90": 90 * time.Minute, "1:30": 90 * time.Second, "2:00:00": 2 * time.Hour, "1-2": 26 * time.Hour,
		"1-2:30": 26*time.Hour + 30*time.Minute, "1-02:30:10": 26*time.Hour + 30*time.Minute + 10*time.Second,
	} {
		if got := SlurmTime(text); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
	for _, text := range []string{"", "UNLIMITED", "INVALID", "1:2:3:4", "-1", "a-b"} {
		if got := SlurmTime(text); got != 0 {
			t.Errorf("%q: %s", text, got)
		}
	}
}
