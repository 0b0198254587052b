package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"text/tabwriter"

	"github.com/spf13/pflag"

	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

func inspectCommand() command {
	return command{
		name: "inspect", args: "PATH…", summary: "say what each file is, what was understood and what was not",
		help: `Reads files and folders and writes nothing. Every file is listed with its format, the numbers found in it and its problems;
then the runs that the files make together, with the reason for each grouping; then problems, worst first.

--json prints the same as one document of schema ttreport/inspect/v1, runs in full.`,
		examples: []example{
			{"what is in this folder?", "ttreport inspect results/"},
			{"which files were not understood?", "ttreport inspect --json results/ | jq '.files[] | select(.format == \"unknown\").path'"},
			{"identity from folder names", "ttreport inspect --pattern '{release}/{device}/{model}/*' archive/"},
		},
		setup: func(fs *pflag.FlagSet) runFunc {
			asJSON := fs.Bool("json", false, "print one JSON document")
			all := fs.Bool("all", false, "list every file and every problem")
			strict := fs.Bool("strict", false, "exit 3 when there is a problem that is an error")
			id := identityFlags(fs)
			return func(ctx context.Context, sh *shell, args []string) error {
				if len(args) == 0 {
					return fail(exitUsage, "ttreport inspect results/", "inspect: no file or folder given")
				}
				set, err := load(ctx, args, id)
				if err != nil {
					return err
				}
				if *asJSON {
					err = writeInspectJSON(sh.out, set)
				} else {
					writeInspect(sh.out, set, *all)
				}
				if err == nil && *strict && countSeverity(set.Problems, schema.SevError) > 0 {
					return failure{code: exitInput, err: fmt.Errorf("%d errors in the input", countSeverity(set.Problems, schema.SevError))}
				}
				return err
			}
		},
	}
}

// identity holds the flags that state who was measured where no file does.
type identity struct {
	model, impl, device, engine, version, release, channel string
	patterns                                               []string
}

func identityFlags(fs *pflag.FlagSet) *identity {
	id := &identity{}
	fs.StringVar(&id.model, "model", "", "`name` of the model, where no file states it")
	fs.StringVar(&id.device, "device", "", "`name` of the device, where no file states it")
	fs.StringVar(&id.impl, "impl", "", "`name` of the implementation, where no file states it")
	fs.StringVar(&id.engine, "engine", "", "`name` of the serving engine, where no file states it")
	fs.StringVar(&id.version, "engine-version", "", "`version` of the serving engine, where no file states it")
	fs.StringVar(&id.release, "release", "", "`label` of the release, where no file states it")
	fs.StringVar(&id.channel, "channel", "", "release, main, pr or dev")
	fs.StringArrayVar(&id.patterns, "pattern", nil, "read identity from paths by this `pattern`; see ttreport help files")
	return id
}

func (id *identity) options() (ingest.Options, error) {
	if err := checkChannel(id.channel); err != nil {
		return ingest.Options{}, err
	}
	opt := ingest.Options{Flags: schema.Facts{Release: id.release, Channel: id.channel, Impl: id.impl, Model: modelOf(id.model),
		Device: schema.Device{Name: id.device}, Stack: schema.Stack{Engine: id.engine, Version: id.version}}}
	for _, text := range id.patterns {
		p, err := manifest.NewPattern(text)
		if err != nil {
			return opt, failure{code: exitUsage, err: err}
		}
		opt.Patterns = append(opt.Patterns, p)
	}
	return opt, nil
}

// modelOf takes a hub id or a bare name.
func modelOf(s string) schema.Model {
	if strings.Contains(s, "/") {
		return schema.Model{ID: s, Name: path.Base(s)}
	}
	return schema.Model{Name: s}
}

// load reads paths of the command line.
func load(ctx context.Context, paths []string, id *identity) (ingest.Set, error) {
	opt, err := id.options()
	if err != nil {
		return ingest.Set{}, err
	}
	var roots []ingest.Root
	for _, p := range paths {
		root, err := ingest.OSRoot(filepath.ToSlash(fromHere(p)))
		if os.IsNotExist(err) {
			return ingest.Set{}, fail(exitUsage, "check the spelling; paths are relative to the current folder", "%s does not exist", p)
		}
		if err != nil {
			return ingest.Set{}, fail(exitInput, "check its permissions", "%w", err)
		}
		roots = append(roots, root)
	}
	return ingest.Load(ctx, roots, opt)
}

// fromHere writes a path relative to the current folder where it lies below it: what is stored must not depend on where
// the workspace lies.
func fromHere(name string) string {
	if !filepath.IsAbs(name) {
		return name
	}
	here, err := os.Getwd()
	if err != nil {
		return name
	}
	if rel, err := filepath.Rel(here, name); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return name
}

func countSeverity(problems []schema.Problem, sev string) int {
	n := 0
	for _, p := range problems {
		if p.Severity == sev {
			n++
		}
	}
	return n
}

// inspectFile is a file in the JSON form.
type inspectFile struct {
	Path     string            `json:"path"`
	SHA256   string            `json:"sha256"`
	Format   string            `json:"format"`
	Detail   string            `json:"detail"`
	Points   int               `json:"points"`
	Scores   int               `json:"scores"`
	Run      string            `json:"run,omitempty"`
	Problems []json.RawMessage `json:"problems"`
}

func writeInspectJSON(w io.Writer, set ingest.Set) error {
	doc := struct {
		Schema   string            `json:"schema"`
		Files    []inspectFile     `json:"files"`
		Runs     []json.RawMessage `json:"runs"`
		Grouping map[string]string `json:"grouping"`
		Problems []json.RawMessage `json:"problems"`
	}{Schema: "ttreport/inspect/v1", Files: []inspectFile{}, Runs: []json.RawMessage{}, Problems: problemsJSON(set.Problems), Grouping: set.Grouping}
	for _, f := range set.Files {
		doc.Files = append(doc.Files, inspectFile{f.Path, f.SHA256, f.Format, f.Detail, f.Points, f.Scores, f.Run, problemsJSON(f.Problems)})
	}
	for i := range set.Runs {
		doc.Runs = append(doc.Runs, history.Encode(&set.Runs[i]))
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(doc)
}

func problemsJSON(list []schema.Problem) []json.RawMessage {
	out := []json.RawMessage{}
	for i := range list {
		out = append(out, history.EncodeProblem(&list[i]))
	}
	return out
}

// fileGroup is a row of the table: files of one folder that are alike.
type fileGroup struct {
	dir, format, detail string
	files               []ingest.File
	points, scores, bad int
}

func writeInspect(w io.Writer, set ingest.Set, all bool) {
	groups := groupFiles(set.Files, all)
	base := commonFolder(set.Files)
	if base != "" {
		fmt.Fprintf(w, "In %s\n", base)
	}
	tw := tabwriter.NewWriter(w, 2, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "FILE\tFORMAT\tPOINTS\tSCORES\tPROBLEMS\tWHAT")
	for _, g := range groups {
		name := strings.TrimPrefix(g.files[0].Path, base)
		if len(g.files) > 1 {
			name = fmt.Sprintf("%s (%d files)", cmp.Or(strings.TrimPrefix(g.dir+"/", base), "./"), len(g.files))
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\n", name, g.format, dash(g.points), dash(g.scores), dash(g.bad), g.detail)
	}
	tw.Flush()
	writeRuns(w, set)
	writeProblems(w, set.Problems, all)
	known := 0
	for _, f := range set.Files {
		if f.Format != ingest.Unknown {
			known++
		}
	}
	fmt.Fprintf(w, "\n%s, %d of a known kind; %s; %s.\n", plural(len(set.Files), "file"), known, plural(len(set.Runs), "run"), problemCounts(set.Problems))
}

// commonFolder is the folder that all paths begin with, with its slash; "" when there is none or one file alone.
func commonFolder(files []ingest.File) string {
	if len(files) < 2 {
		return ""
	}
	base := path.Dir(files[0].Path) + "/"
	for _, f := range files[1:] {
		for !strings.HasPrefix(f.Path, base) {
			up := path.Dir(strings.TrimSuffix(base, "/"))
			if up == "." || up == "/" || up+"/" == base {
				return ""
			}
			base = up + "/"
		}
	}
	return base
}

func groupFiles(files []ingest.File, all bool) []*fileGroup {
	var out []*fileGroup
	byKey := map[string]*fileGroup{}
	for _, f := range files {
		key := path.Dir(f.Path) + "\x00" + f.Format + "\x00" + f.Detail
		if all {
			key = f.Path
		}
		g := byKey[key]
		if g == nil {
			g = &fileGroup{dir: path.Dir(f.Path), format: f.Format, detail: f.Detail}
			if f.Format == ingest.Unknown && f.Detail != "" {
				g.detail = "nearest: " + f.Detail
			}
			byKey[key] = g
			out = append(out, g)
		}
		g.files = append(g.files, f)
		g.points += f.Points
		g.scores += f.Scores
		for _, p := range f.Problems {
			if p.Severity != schema.SevNote {
				g.bad++
			}
		}
	}
	return out
}

func writeRuns(w io.Writer, set ingest.Set) {
	if len(set.Runs) == 0 {
		return
	}
	fmt.Fprintln(w)
	tw := tabwriter.NewWriter(w, 2, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "RUN\tMODEL\tDEVICE\tENGINE\tRELEASE\tPOINTS\tSCORES\tWHY ONE RUN")
	for i := range set.Runs {
		r := &set.Runs[i]
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.ID, orUnknown(r.Model.Name), orUnknown(r.Device.Name), orUnknown(strings.TrimSpace(r.Stack.Engine+" "+r.Stack.Version)),
			orUnknown(r.Release), dash(len(r.Points)), dash(len(r.Scores)), set.Grouping[r.ID])
	}
	tw.Flush()
}

// problemsShown is how many problems are listed without --all.
const problemsShown = 20

func writeProblems(w io.Writer, problems []schema.Problem, all bool) {
	list := worstFirst(problems)
	if !all {
		keep := list[:0:0]
		for _, p := range list {
			if p.Severity != schema.SevNote {
				keep = append(keep, p)
			}
		}
		list = keep
	}
	if len(list) == 0 {
		return
	}
	fmt.Fprintln(w, "\nPROBLEMS, worst first")
	shown := list
	if !all {
		shown = alike(list)
	}
	more := 0
	if !all && len(shown) > problemsShown {
		more = len(shown) - problemsShown
		shown = shown[:problemsShown]
	}
	for _, p := range shown {
		fmt.Fprintf(w, "%-7s  %s\n", p.Severity, p)
		if p.Hint != "" {
			fmt.Fprintf(w, "         hint: %s\n", strings.ReplaceAll(p.Hint, "\n", "\n         "))
		}
	}
	if more > 0 {
		fmt.Fprintf(w, "… and %d more kinds; --all lists every problem\n", more)
	}
}

// alike keeps the first of the problems that say the same of several files of one folder, and how many say it.
func alike(list []schema.Problem) []schema.Problem {
	out, count := schema.Alike(list, func(p schema.Problem) string { return path.Dir(p.Path) + "\x00" + p.Severity + "\x00" + p.Code })
	for i, n := range count {
		if n > 1 {
			out[i].Found += fmt.Sprintf(" (and %d more like it in this folder)", n-1)
		}
	}
	return out
}

func worstFirst(problems []schema.Problem) []schema.Problem {
	rank := map[string]int{schema.SevError: 0, schema.SevWarning: 1, schema.SevNote: 2}
	out := append([]schema.Problem(nil), problems...)
	sort.SliceStable(out, func(i, j int) bool { return rank[out[i].Severity] < rank[out[j].Severity] })
	return out
}

func problemCounts(problems []schema.Problem) string {
	var parts []string
	for _, sev := range []string{schema.SevError, schema.SevWarning, schema.SevNote} {
		if n := countSeverity(problems, sev); n > 0 {
			parts = append(parts, plural(n, sev))
		}
	}
	if len(parts) == 0 {
		return "no problems"
	}
	return strings.Join(parts, ", ")
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func dash(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}
