package kubernetes

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"
	"time"

	"github.com/ttreport/ttreport/collect/engine"
	"github.com/ttreport/ttreport/collect/plan"
)

// Paths in a pod, and the container of the client, as the templates have them.
const (
	planPath    = "/ttreport/plan"
	resultsPath = "/ttreport/results"
	clientName  = "collect"
	serverName  = "server"
)

// indexVariable is the index of a pod in its Job, which Kubernetes puts into the environment and replaces in arguments.
const indexVariable = "$(JOB_COMPLETION_INDEX)"

// PrintCommand is the command of this program that prints a part of what is in a folder; see [transfer.WritePart].
const PrintCommand = "print-results"

const (
	grace    = 60            // s that a pod has to print what it measured when it is ended
	usualTTL = 7 * 24 * 3600 // s that an ended Job is kept where nothing is stated: its log has the results
)

//go:embed manifest.yaml.tmpl
var templateText string

// manifests are the templates of what is created.
var manifests = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("manifest").Funcs(template.FuncMap{
		"json": func(v any) (string, error) { // which YAML has as well
			var b bytes.Buffer
			to := json.NewEncoder(&b)
			to.SetEscapeHTML(false)
			err := to.Encode(v)
			return strings.TrimSpace(b.String()), err
		},
		"indent": func(text string) string {
			return "    " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n    ")
		},
		"split": func(at, text string) []string {
			return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(at, r) })
		},
	}).Parse(templateText))
})

// fields are what the templates have of a group.
type fields struct {
	plan.Resources
	Name, ID, Namespace, Entries, Folder string

	Plans                         []file
	AtOnce, Retries, Parts, Grace int
	TTL                           string
	Seconds                       int64 // 0: no limit
	Server                        engine.Server
	Args                          []string
	Alone                         bool // no other pod of ours on its node
	NodeSelector                  map[string]string
	Tolerations                   []map[string]string
	Devices, ClientResources      map[string]map[string]string // as requests and limits
}

// file is a file of a ConfigMap.
type file struct{ Name, Text string }

// Render returns the YAML of a group, a ConfigMap with its entries and a Job; an [engine.RefusedError] where that
// cannot be made, or would measure beside another one.
func (b *Backend) Render(s *engine.Submission, g engine.Group) (string, error) {
	refuse := func(field, why string) (string, error) {
		return "", &engine.RefusedError{Job: s.NameOf(g.Entries[0]), Field: field, Why: why}
	}
	r := g.Resources
	if r.Image == "" {
		return refuse("image",
			"it is missing: the image that ttreport runs from, as in image: registry.example/ttreport:v1")
	}
	if r.ResultsAt != "" && r.Results == "" {
		return refuse("results_at", "it is where a claim is mounted here, and results: names no claim")
	}
	for field, list := range map[string]string{"nodelist": r.Nodelist, "exclude": r.Exclude} {
		if strings.ContainsAny(list, "[]") {
			return refuse(field, fmt.Sprintf("%q: Kubernetes has no ranges of nodes; list them, as n1,n2", list))
		}
	}
	if slices.ContainsFunc(s.Groups, func(o engine.Group) bool {
		return o.Number < g.Number && o.OneByOne() && o.Server.URL == g.Server.URL
	}) {
		return refuse("", fmt.Sprintf("jobs that measure %s run one after the other, in one array, and their resources, "+
			"servers or time limits differ; state the same, time: as well, or make each of them a plan of its own",
			g.Server.URL))
	}
	return render(s, engine.Array{
		Name: s.JobName(g, 0), Group: g, Entries: g.Entries, Retries: r.MostRetries(),
	})
}

// render returns what is created for an array: a retry has fewer entries, another limit, and writes to the same place.
func render(s *engine.Submission, a engine.Array) (string, error) {
	f := fieldsOf(s, a.Group)
	f.Name, f.Retries, f.AtOnce = strings.ToLower(a.Name), a.Retries, len(a.Entries)
	if a.Group.OneByOne() {
		f.AtOnce = 1
	}
	f.Seconds = int64((cmp.Or(a.Limit, a.Group.Limit) + time.Second - 1) / time.Second)
	plain := func(list []string) (out []string) { // $$( is $( and $(X) the variable X
		for _, text := range list {
			out = append(out, strings.ReplaceAll(text, "$(", "$$("))
		}
		return out
	}
	g := a.Group
	f.Args = append([]string{"collect"}, plain(s.Args)...)
	stated := func(a string) bool { return strings.HasPrefix(a, "--startup-timeout=") }
	if g.Server.Image != "" && !slices.ContainsFunc(s.Args, stated) {
		f.Args = append(f.Args, "--startup-timeout=1h") // a minute is for a server that runs already
	}
	index := indexVariable
	if len(a.Entries) < len(g.Entries) { // a retry is of one entry
		index = strconv.Itoa(slices.Index(g.Entries, a.Entries[0]))
	}
	f.Args = append(f.Args, "--once", "--allocated", // the pod has its devices for itself
		"--out="+resultsPath+"/"+index, "--plan="+planPath+"/"+indexVariable+".yaml")
	if g.Resources.Results == "" { // else they stay on the claim
		f.Args = append(f.Args, "--print-results")
	}
	if g.Server.Image == "" && len(s.After) > 0 {
		f.Args = append(append(f.Args, "--"), plain(s.After)...)
	}
	var entries []string
	for _, j := range s.Jobs {
		if !slices.Contains(a.Entries, j.Entry) {
			continue
		}
		text := j.Plan
		if text == nil { // of a submission that was opened
			var err error
			if text, err = os.ReadFile(s.EntryOf(j.Entry)); err != nil {
				return "", fmt.Errorf("submission: %w", err)
			}
		}
		entries = append(entries, strconv.Itoa(j.Entry))
		f.Plans = append(f.Plans, file{engine.EntryName(j.Entry), string(text)})
	}
	f.Entries = strings.Join(entries, ",")
	return execute("manifest", f)
}

// execute returns the text of a template.
func execute(name string, f fields) (string, error) {
	var b strings.Builder
	if err := manifests().ExecuteTemplate(&b, name, f); err != nil {
		return "", fmt.Errorf("manifest: %w", err)
	}
	return b.String(), nil
}

// fieldsOf returns what resources: and the server of a group state, in Kubernetes' forms.
func fieldsOf(s *engine.Submission, g engine.Group) fields {
	r := g.Resources
	alone := len(r.Devices) == 0 && g.Server.URL == "" // no device plugin tells pods apart
	f := fields{
		Resources: r, ID: strings.ToLower(s.ID), Namespace: s.Target.Namespace, Server: g.Server, Folder: onClaim(s, g),
		Grace: grace, TTL: cmp.Or(r.TTL, strconv.Itoa(usualTTL)), Devices: requirements(r),
		ClientResources: requirements(plan.Resources{CPUs: "1", Mem: "1G"}), // or it would measure its neighbours
		NodeSelector:    pairs(r.NodeSelector), Alone: r.Exclusive == "true" || alone && r.Exclusive != "false",
	}
	if g.Server.Image == "" && g.Server.URL == "" {
		f.ClientResources = f.Devices
	}
	for _, text := range r.Tolerations { // key=value:effect; without a value or an effect each of them is tolerated
		taint, effect, _ := strings.Cut(text, ":")
		key, value, hasValue := strings.Cut(taint, "=")
		t := map[string]string{"key": key, "operator": "Exists"}
		if hasValue {
			t["operator"], t["value"] = "Equal", value
		}
		if effect != "" {
			t["effect"] = effect
		}
		f.Tolerations = append(f.Tolerations, t)
	}
	return f
}

// requirements asks for all that is stated, no more and no less, so that a pod's processors are its own where nodes
// give them out (class Guaranteed).
func requirements(r plan.Resources) map[string]map[string]string {
	list := pairs(r.Devices)
	if r.CPUs != "" {
		list["cpu"] = r.CPUs
	}
	if r.Mem != "" { // as sbatch's --mem: its units are binary, and without one it is megabytes
		list["memory"] = r.Mem + "Mi"
		if unit := strings.ToUpper(r.Mem[len(r.Mem)-1:]); strings.ContainsAny(unit, "KMGT") {
			list["memory"] = r.Mem[:len(r.Mem)-1] + unit + "i"
		}
	}
	if len(list) == 0 {
		return map[string]map[string]string{}
	}
	return map[string]map[string]string{"requests": list, "limits": list}
}

// pairs reads a list of name=value.
func pairs(list []string) map[string]string {
	out := map[string]string{}
	for _, p := range list {
		name, value, _ := strings.Cut(p, "=")
		out[name] = value
	}
	return out
}

// onClaim is the folder of a group on the claim of results; each index has its own in it.
func onClaim(s *engine.Submission, g engine.Group) string {
	return fmt.Sprintf("%s-%s/%d", s.Engine, s.ID, g.Number)
}
