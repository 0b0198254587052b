package plan

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Resources are what a job asks a scheduler for, in Slurm's words: each text is the value of the option of sbatch of
// the same name.
type Resources struct {
	Partition   string   `yaml:"partition,omitempty"`
	GRES        string   `yaml:"gres,omitempty"`
	CPUs        string   `yaml:"cpus,omitempty"` // of sbatch's --cpus-per-task
	Mem         string   `yaml:"mem,omitempty"`
	Time        string   `yaml:"time,omitempty"`
	Account     string   `yaml:"account,omitempty"`
	QOS         string   `yaml:"qos,omitempty"`
	Reservation string   `yaml:"reservation,omitempty"`
	Constraint  string   `yaml:"constraint,omitempty"`
	Nodelist    string   `yaml:"nodelist,omitempty"`
	Exclude     string   `yaml:"exclude,omitempty"`
	Exclusive   string   `yaml:"exclusive,omitempty"` // true or false
	Retries     string   `yaml:"retries,omitempty"`   // times that what is missing is requeued
	Scratch     string   `yaml:"scratch,omitempty"`   // folder on the node's own disk
	Modules     []string `yaml:"modules,omitempty"`
	RunArgs     []string `yaml:"run_args,omitempty"` // of "docker run"
}

// Resource is a field of [Resources].
type Resource struct {
	Name    string
	Option  string // of sbatch; "" for what the job's script does
	Example string
	Text    func(*Resources) *string
	List    func(*Resources) *[]string // in place of Text
	form    *regexp.Regexp
}

// Forms of values. They contain nothing that a line "#SBATCH --option=value" could end or quote.
const (
	aWord       = `[\w.@+-]+`
	wordList    = aWord + `(,` + aWord + `)*`
	gresList    = `[A-Za-z_][\w./-]*(:[A-Za-z_][\w.-]*)?(:[1-9]\d*[KMGT]?)?`
	aCount      = `[1-9]\d*`
	aNumber     = `\d+`
	aMemory     = `[1-9]\d*[KMGTkmgt]?`
	aTime       = `\d+|\d+:\d\d|\d+:\d\d:\d\d|\d+-\d+|\d+-\d+:\d\d|\d+-\d+:\d\d:\d\d`
	aConstraint = `[\w.\[\]()|&*,-]+`
	nodes       = `[\w.\[\],-]+`
	aFolder     = `/[^"\\%\x00-\x1f]*`
	aModule     = `[\w./+-]+`
	anArgument  = `[^\x00-\x1f]+`
)

// ResourceFields lists the fields, in the order of a script.
func ResourceFields() []Resource {
	text := func(name, option, example, form string, at func(*Resources) *string) Resource {
		return Resource{Name: name, Option: option, Example: example, Text: at, form: whole(form)}
	}
	list := func(name, example, form string, at func(*Resources) *[]string) Resource {
		return Resource{Name: name, Example: example, List: at, form: whole(form)}
	}
	return []Resource{
		text("partition", "partition", "gpu", wordList, func(r *Resources) *string { return &r.Partition }),
		text("account", "account", "benchmarks", aWord, func(r *Resources) *string { return &r.Account }),
		text("qos", "qos", "long", aWord, func(r *Resources) *string { return &r.QOS }),
		text("reservation", "reservation", "release_week", wordList, func(r *Resources) *string { return &r.Reservation }),
		text("gres", "gres", "gpu:h100:8", gresList+`(,`+gresList+`)*`, func(r *Resources) *string { return &r.GRES }),
		text("cpus", "cpus-per-task", "16", aCount, func(r *Resources) *string { return &r.CPUs }),
		text("mem", "mem", "64G", aMemory, func(r *Resources) *string { return &r.Mem }),
		text("time", "time", "2:00:00", aTime, func(r *Resources) *string { return &r.Time }),
		text("constraint", "constraint", "h100&nvlink", aConstraint, func(r *Resources) *string { return &r.Constraint }),
		text("nodelist", "nodelist", "n[1-4]", nodes, func(r *Resources) *string { return &r.Nodelist }),
		text("exclude", "exclude", "n7", nodes, func(r *Resources) *string { return &r.Exclude }),
		text("exclusive", "", "true", `true|false`, func(r *Resources) *string { return &r.Exclusive }),
		text("retries", "", "2", aNumber, func(r *Resources) *string { return &r.Retries }),
		text("scratch", "", "/local/scratch", aFolder, func(r *Resources) *string { return &r.Scratch }),
		list("modules", "[cuda/12.4]", aModule, func(r *Resources) *[]string { return &r.Modules }),
		list("run_args", `["--shm-size=16g"]`, anArgument, func(r *Resources) *[]string { return &r.RunArgs }),
	}
}

func whole(form string) *regexp.Regexp { return regexp.MustCompile(`^(?:` + form + `)$`) }

// UnmarshalYAML reads resources strictly: what is empty, misspelt or of another form is refused with an example.
func (r *Resources) UnmarshalYAML(read func(any) error) error {
	var stated map[string]any
	if err := read(&stated); err != nil {
		return fmt.Errorf("resources: expected fields and values, as in gres: gpu:h100:8 (%w)", err)
	}
	fields := ResourceFields()
	for _, name := range slices.Sorted(maps.Keys(stated)) {
		i := slices.IndexFunc(fields, func(f Resource) bool { return f.Name == name })
		if i < 0 {
			var names []string
			for _, f := range fields {
				names = append(names, f.Name)
			}
			return fmt.Errorf("resources: there is no field %q; there are %s", name, strings.Join(names, ", "))
		}
		if err := fields[i].set(r, stated[name]); err != nil {
			return err
		}
	}
	return nil
}

// set sets a field to a value of a YAML file.
func (f Resource) set(r *Resources, value any) error {
	list, isList := value.([]any)
	if !isList {
		list = []any{value}
	}
	if value == nil || value == "" || len(list) == 0 {
		return fmt.Errorf("resources: %s is empty; leave it out, or state it, as %[1]s: %s", f.Name, f.Example)
	}
	if f.List == nil && isList {
		return fmt.Errorf("resources: %s has one value, as %[1]s: %s", f.Name, f.Example)
	}
	for _, v := range list {
		text := strings.TrimSpace(fmt.Sprint(v))
		if !f.form.MatchString(text) {
			return fmt.Errorf("resources: %s: %q is not of the form that Slurm takes, as %s: %s",
				f.Name, text, f.Name, f.Example)
		}
		if f.List != nil {
			*f.List(r) = append(*f.List(r), text)
		} else {
			*f.Text(r) = text
		}
	}
	return nil
}

// Over returns the resources with what they leave open taken from base.
func (r Resources) Over(base Resources) Resources {
	for _, f := range ResourceFields() {
		switch {
		case f.List != nil && len(*f.List(&r)) == 0:
			*f.List(&r) = slices.Clone(*f.List(&base))
		case f.List == nil && *f.Text(&r) == "":
			*f.Text(&r) = *f.Text(&base)
		}
	}
	return r
}

// ResourcesOf returns the resources of an entry on a device: its own, then those that are stated for the device.
func ResourcesOf(own Resources, byDevice map[string]Resources, device string) Resources {
	for _, name := range slices.Sorted(maps.Keys(byDevice)) {
		if schema.SameDevice(name, device) {
			return own.Over(byDevice[name])
		}
	}
	return own
}

// usualRetries is how often what is missing is requeued where nothing is stated.
const usualRetries = 2

// MostRetries returns how often what is missing is requeued.
func (r Resources) MostRetries() int {
	if n, err := strconv.Atoi(r.Retries); err == nil {
		return n
	}
	return usualRetries
}

// TimeLimit returns the stated time limit; 0 for none.
func (r Resources) TimeLimit() time.Duration {
	d, _ := SlurmTime(r.Time) // its form was checked
	return d
}

// SlurmTime reads a time as Slurm writes it: minutes, minutes:seconds, hours:minutes:seconds, days-hours,
// days-hours:minutes or days-hours:minutes:seconds; see sbatch(1), --time. ok is false for UNLIMITED and the like.
func SlurmTime(text string) (d time.Duration, ok bool) {
	days, rest, hasDays := strings.Cut(text, "-")
	if !hasDays {
		days, rest = "0", text
	}
	parts := strings.Split(rest, ":")
	units := []time.Duration{time.Hour, time.Minute, time.Second}
	switch {
	case hasDays:
	case len(parts) < 3:
		units = units[1:]
	}
	if len(parts) > len(units) {
		return 0, false
	}
	n, err := strconv.Atoi(days)
	if err != nil {
		return 0, false
	}
	d = time.Duration(n) * 24 * time.Hour
	for i, p := range parts {
		if n, err = strconv.Atoi(p); err != nil || n < 0 {
			return 0, false
		}
		d += time.Duration(n) * units[i]
	}
	return d, true
}
