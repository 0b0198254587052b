package plan

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Resources are what a job asks a scheduler for, in Slurm's words: each text is the value of the option of sbatch that
// its tag names, in the order of a script. A field of one scheduler alone names it in its tag. Forms are in [formOf].
type Resources struct {
	Partition   string `yaml:"partition,omitempty" option:"partition" of:"slurm" form:"words" as:"gpu"`
	Account     string `yaml:"account,omitempty" option:"account" of:"slurm" form:"word" as:"benchmarks"`
	QOS         string `yaml:"qos,omitempty" option:"qos" of:"slurm" form:"word" as:"long"`
	Reservation string `yaml:"reservation,omitempty" option:"reservation" of:"slurm" form:"words" as:"week_7"`
	GRES        string `yaml:"gres,omitempty" option:"gres" of:"slurm" form:"gres" as:"gpu:h100:8"`
	CPUs        string `yaml:"cpus,omitempty" option:"cpus-per-task" form:"count" as:"16"`
	Mem         string `yaml:"mem,omitempty" option:"mem" form:"memory" as:"64G"`
	Time        string `yaml:"time,omitempty" option:"time" form:"time" as:"2:00:00"`
	Constraint  string `yaml:"constraint,omitempty" option:"constraint" of:"slurm" form:"constraint" as:"h100&nvlink"`
	Nodes       string `yaml:"nodes,omitempty" option:"nodes" form:"count" as:"4"`
	Nodelist    string `yaml:"nodelist,omitempty" option:"nodelist" form:"nodes" as:"n[1-4]"`
	Exclude     string `yaml:"exclude,omitempty" option:"exclude" form:"nodes" as:"n7"`
	Exclusive   string `yaml:"exclusive,omitempty" form:"bool" as:"true"`
	// Retries is how often what is missing is requeued, RunArgs are of docker run.
	Retries string   `yaml:"retries,omitempty" form:"number" as:"2"`
	Modules []string `yaml:"modules,omitempty" of:"slurm" form:"module" as:"[cuda/12.4]"`
	RunArgs []string `yaml:"run_args,omitempty" of:"slurm" form:"argument" as:"[\"--shm-size=16g\"]"`

	// Image is that of the client, Results a claim for run folders, which the command that follows sees at ResultsAt;
	// Queue is of Kueue, TTL in seconds.
	Image          string   `yaml:"image,omitempty" of:"kubernetes" form:"image" as:"registry.example/ttreport:v1"`
	Results        string   `yaml:"results,omitempty" of:"kubernetes" form:"kubename" as:"bench-results"`
	ResultsAt      string   `yaml:"results_at,omitempty" of:"kubernetes" form:"folder" as:"/mnt/bench"`
	Queue          string   `yaml:"queue,omitempty" of:"kubernetes" form:"kubename" as:"benchmarks"`
	ServiceAccount string   `yaml:"service_account,omitempty" of:"kubernetes" form:"kubename" as:"bench"`
	PriorityClass  string   `yaml:"priority_class,omitempty" of:"kubernetes" form:"kubename" as:"low"`
	TTL            string   `yaml:"ttl,omitempty" of:"kubernetes" form:"number" as:"86400"`
	Devices        []string `yaml:"devices,omitempty" of:"kubernetes" form:"device" as:"[\"nvidia.com/gpu=8\"]"`
	NodeSelector   []string `yaml:"node_selector,omitempty" of:"kubernetes" form:"label" as:"[\"gpu.product=H100\"]"`
	Tolerations    []string `yaml:"tolerations,omitempty" of:"kubernetes" form:"toleration" as:"[\"gpu:NoSchedule\"]"`
	Volumes        []string `yaml:"volumes,omitempty" of:"kubernetes" form:"volume" as:"[\"weights:/models:ro\"]"`
	Secrets        []string `yaml:"secrets,omitempty" of:"kubernetes" form:"secret" as:"[\"HF_TOKEN=hub/token\"]"`
	PullSecrets    []string `yaml:"pull_secrets,omitempty" of:"kubernetes" form:"kubename" as:"[\"registry\"]"`
}

// formOf returns the form of values by the tag of their field. Slurm's contain nothing that a line
// "#SBATCH --option=value" could end or quote; names of Kubernetes are those of RFC 1123, keys may have a prefix and a
// slash.
func formOf(tag string) *regexp.Regexp {
	const (
		word = `[\w.@+-]+`
		gres = `[A-Za-z_][\w./-]*(:[A-Za-z_][\w.-]*)?(:[1-9]\d*[KMGT]?)?`
		name = `[a-z0-9]([a-z0-9.-]*[a-z0-9])?`
		key  = `(` + name + `/)?[A-Za-z0-9]([\w.-]*[A-Za-z0-9])?`
		is   = `=([A-Za-z0-9]([\w.-]*[A-Za-z0-9])?)?`
	)
	return regexp.MustCompile(`^(?:` + map[string]string{
		"word": word, "words": word + `(,` + word + `)*`, "gres": gres + `(,` + gres + `)*`,
		"count": `[1-9]\d*`, "number": `\d+`, "memory": `[1-9]\d*[KMGTkmgt]?`, "bool": `true|false`,
		"time":       `\d+|\d+:\d\d|\d+:\d\d:\d\d|\d+-\d+|\d+-\d+:\d\d|\d+-\d+:\d\d:\d\d`,
		"constraint": `[\w.\[\]()|&*,-]+`, "nodes": `[\w.\[\],-]+`, "folder": `/[^"\\%\x00-\x1f]*`,
		"module": `[\w./+-]+`, "argument": `[^\x00-\x1f]+`, "image": `[\w./:@-]+`, "kubename": name,
		"device": key + `=[1-9]\d*`, "label": key + is, "volume": name + `:/[^:,\x00-\x1f]*(:ro)?`,
		"toleration": key + `(` + is + `)?(:(NoSchedule|PreferNoSchedule|NoExecute))?`,
		"secret":     `[A-Za-z_]\w*=` + name + `/[\w.-]+`,
	}[tag] + `)$`)
}

// Resource is a field of [Resources] and what it states.
type Resource struct {
	Name   string
	Option string // of sbatch; "" for what the job's script does
	Text   string // "" for none, and for lists
	of     string // the only scheduler that has it; "" for all
	as     string // an example
	form   string
	value  reflect.Value
}

// Fields lists the fields, in the order of a script.
func (r *Resources) Fields() []Resource {
	var out []Resource
	v := reflect.ValueOf(r).Elem()
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		name, _, _ := strings.Cut(tag.Get("yaml"), ",")
		f := Resource{Name: name, Option: tag.Get("option"), of: tag.Get("of"), as: tag.Get("as"), form: tag.Get("form"),
			value: v.Field(i)}
		if !f.isList() {
			f.Text = f.value.String()
		}
		out = append(out, f)
	}
	return out
}

func (f Resource) isList() bool { return f.value.Kind() == reflect.Slice }

// For returns the resources without the fields that a scheduler has no word for, and the names of those that were
// stated.
func (r Resources) For(scheduler string) (own Resources, others []string) {
	for _, f := range r.Fields() {
		if f.of != "" && f.of != scheduler && !f.value.IsZero() {
			others = append(others, f.Name)
			f.value.SetZero()
		}
	}
	return r, others
}

// UnmarshalYAML reads resources strictly: what is empty, misspelt or of another form is refused with an example.
func (r *Resources) UnmarshalYAML(read func(any) error) error {
	var stated map[string]any
	if err := read(&stated); err != nil {
		return fmt.Errorf("resources: expected fields and values, as in gres: gpu:h100:8 (%w)", err)
	}
	fields := r.Fields()
	for _, name := range slices.Sorted(maps.Keys(stated)) {
		i := slices.IndexFunc(fields, func(f Resource) bool { return f.Name == name })
		if i < 0 {
			var names []string
			for _, f := range fields {
				names = append(names, f.Name)
			}
			return fmt.Errorf("resources: unknown field %q; the fields are %s", name, strings.Join(names, ", "))
		}
		if err := fields[i].set(stated[name]); err != nil {
			return err
		}
	}
	return nil
}

// set sets a field to a value of a YAML file.
func (f Resource) set(value any) error {
	list, isList := value.([]any)
	if !isList {
		list = []any{value}
	}
	if value == nil || value == "" || len(list) == 0 {
		return fmt.Errorf("resources: %s is empty; leave it out, or give a value, as in %[1]s: %s", f.Name, f.as)
	}
	if !f.isList() && isList {
		return fmt.Errorf("resources: %s takes one value, as in %[1]s: %s", f.Name, f.as)
	}
	form, texts := formOf(f.form), []string(nil)
	for _, v := range list {
		text := strings.TrimSpace(fmt.Sprint(v))
		if !form.MatchString(text) {
			taker := "Slurm"
			if f.of == "kubernetes" {
				taker = "Kubernetes"
			}
			return fmt.Errorf("resources: %s: %q does not have the form that %s takes, as in %[1]s: %[4]s", f.Name, text, taker,
				f.as)
		}
		texts = append(texts, text)
	}
	if f.isList() {
		f.value.Set(reflect.ValueOf(slices.Clip(texts)))
	} else {
		f.value.SetString(texts[0])
	}
	return nil
}

// ResourcesOf returns the resources of an entry on a device: its own, then those that are stated for the device.
func ResourcesOf(own Resources, byDevice map[string]Resources, device string) Resources {
	for _, name := range slices.Sorted(maps.Keys(byDevice)) {
		if !schema.SameDevice(name, device) {
			continue
		}
		base := byDevice[name]
		open := base.Fields()
		for i, f := range own.Fields() {
			if f.value.IsZero() {
				f.value.Set(open[i].value)
			}
		}
		break
	}
	return own
}

// MostRetries returns how often what is missing is requeued.
func (r Resources) MostRetries() int {
	const usual = 2
	if n, err := strconv.Atoi(r.Retries); err == nil {
		return n
	}
	return usual
}

// TimeLimit returns the stated time limit; 0 for none.
func (r Resources) TimeLimit() time.Duration { return SlurmTime(r.Time) }

// SlurmTime reads a time as Slurm writes it: minutes, minutes:seconds, hours:minutes:seconds, days-hours,
// days-hours:minutes or days-hours:minutes:seconds; see sbatch(1), --time. It is 0 for UNLIMITED and the like.
func SlurmTime(text string) time.Duration {
	days, rest, hasDays := strings.Cut(text, "-")
	if !hasDays {
		days, rest = "0", text
	}
	parts := strings.Split(rest, ":")
	units := []time.Duration{time.Hour, time.Minute, time.Second}
	if !hasDays && len(parts) < 3 {
		units = units[1:]
	}
	n, err := strconv.Atoi(days)
	if err != nil || len(parts) > len(units) {
		return 0
	}
	d := time.Duration(n) * 24 * time.Hour
	for i, p := range parts {
		if n, err = strconv.Atoi(p); err != nil || n < 0 {
			return 0
		}
		d += time.Duration(n) * units[i]
	}
	return d
}
