package slurm

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"al.essio.dev/pkg/shellescape"
	"github.com/ttreport/ttreport/collect/engine"
	"github.com/ttreport/ttreport/collect/plan"
)

// indexes writes array indexes as sbatch takes them: "1,3,5-7".
func indexes(list []int) string {
	var parts []string
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		part := strconv.Itoa(list[i])
		if j > i {
			part += "-" + strconv.Itoa(list[j])
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, ",")
}

//go:embed script.sh.tmpl
var scriptText string

// exitRetries is the exit code of a job that was requeued too often: EX_TEMPFAIL of sysexits.h.
const exitRetries = 75

// Render returns the batch script of a group.
func (Backend) Render(s *engine.Submission, g engine.Group) (string, error) {
	args := slices.Clone(s.Args)
	for _, a := range g.Resources.RunArgs {
		args = append(args, "--run-arg="+a)
	}
	args = append(args, "--once")
	if g.Resources.GRES != "" {
		args = append(args, "--allocated") // GRES is the lock
	}
	limit := ""
	if g.Limit > 0 {
		limit = engine.TimeText(g.Limit)
	}
	text, err := template.New("script").Funcs(template.FuncMap{
		"quote": shellescape.Quote, "indexes": indexes,
	}).Parse(scriptText)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = text.Execute(&b, struct {
		engine.Group
		Submission            *engine.Submission
		Resources             *plan.Resources
		File, Name, Log, Time string
		Args                  []string
		Signs                 bool // arguments have signs that a shell would replace
		ExitRetries           int
	}{
		g, s, &g.Resources, s.FileOf(g), s.JobName(g, 0), strings.ReplaceAll(s.Dir, "%", "%%"), limit, args,
		strings.ContainsAny(strings.Join(slices.Concat(args, s.After), ""), "$`"), exitRetries,
	})
	return b.String(), err
}
