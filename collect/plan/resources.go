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
// the same name. The second half is what only Kubernetes has a word for; see [Resource.Of].
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

	Image          string   `yaml:"image,omitempty"`      // of the client
	Results        string   `yaml:"results,omitempty"`    // claim for run folders
	ResultsAt      string   `yaml:"results_at,omitempty"` // where the command that follows sees that claim
	Queue          string   `yaml:"queue,omitempty"`      // of Kueue
	ServiceAccount string   `yaml:"service_account,omitempty"`
	PriorityClass  string   `yaml:"priority_class,omitempty"`
	TTL            string   `yaml:"ttl,omitempty"` // seconds
	Devices        []string `yaml:"devices,omitempty"`
	NodeSelector   []string `yaml:"node_selector,omitempty"`
	Tolerations    []string `yaml:"tolerations,omitempty"`
	Volumes        []string `yaml:"volumes,omitempty"`
	Secrets        []string `yaml:"secrets,omitempty"`
	PullSecrets    []string `yaml:"pull_secrets,omitempty"`
}

// Resource is a field of [Resources].
type Resource struct {
	Name    string
	Option  string // of sbatch; "" for what the job's script does
	Example string
	Text    func(*Resources) *string
	List    func(*Resources) *[]string // in place of Text
	Of      string                     // the only scheduler that has it; "" for all
	form    *regexp.Regexp
}

// Schedulers, as --on names them.
const (
	OnSlurm      = "slurm"
	OnKubernetes = "kubernetes"
)

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

// Forms of values of Kubernetes: names are those of RFC 1123, keys may have a prefix and a slash.
const (
	kubeName   = `[a-z0-9]([a-z0-9.-]*[a-z0-9])?`
	kubeKey    = `(` + kubeName + `/)?[A-Za-z0-9]([\w.-]*[A-Za-z0-9])?`
	kubeValue  = `([A-Za-z0-9]([\w.-]*[A-Za-z0-9])?)?`
	kubeEffect = `(:(NoSchedule|PreferNoSchedule|NoExecute))?`
	kubePath   = `/[^:,\x00-\x1f]*`
	anImage    = `[\w./:@-]+`
	aVariable  = `[A-Za-z_]\w*`
)

// ResourceFields lists the fields, in the order of a script.
func ResourceFields() []Resource {
	text := func(of, name, option, example, form string, at func(*Resources) *string) Resource {
		return Resource{Name: name, Option: option, Example: example, Text: at, Of: of, form: whole(form)}
	}
	list := func(of, name, example, form string, at func(*Resources) *[]string) Resource {
		return Resource{Name: name, Example: example, List: at, Of: of, form: whole(form)}
	}
	const all, slurm, kube = "", OnSlurm, OnKubernetes
	return []Resource{
		text(slurm, "partition", "partition", "gpu", wordList, func(r *Resources) *string { return &r.Partition }),
		text(slurm, "account", "account", "benchmarks", aWord, func(r *Resources) *string { return &r.Account }),
		text(slurm, "qos", "qos", "long", aWord, func(r *Resources) *string { return &r.QOS }),
		text(slurm, "reservation", "reservation", "week_7", wordList, func(r *Resources) *string { return &r.Reservation }),
		text(slurm, "gres", "gres", "gpu:h100:8", gresList+`(,`+gresList+`)*`,
			func(r *Resources) *string { return &r.GRES }),
		text(all, "cpus", "cpus-per-task", "16", aCount, func(r *Resources) *string { return &r.CPUs }),
		text(all, "mem", "mem", "64G", aMemory, func(r *Resources) *string { return &r.Mem }),
		text(all, "time", "time", "2:00:00", aTime, func(r *Resources) *string { return &r.Time }),
		text(slurm, "constraint", "constraint", "h100&nvlink", aConstraint,
			func(r *Resources) *string { return &r.Constraint }),
		text(all, "nodelist", "nodelist", "n[1-4]", nodes, func(r *Resources) *string { return &r.Nodelist }),
		text(all, "exclude", "exclude", "n7", nodes, func(r *Resources) *string { return &r.Exclude }),
		text(all, "exclusive", "", "true", `true|false`, func(r *Resources) *string { return &r.Exclusive }),
		text(all, "retries", "", "2", aNumber, func(r *Resources) *string { return &r.Retries }),
		text(slurm, "scratch", "", "/local/scratch", aFolder, func(r *Resources) *string { return &r.Scratch }),
		list(slurm, "modules", "[cuda/12.4]", aModule, func(r *Resources) *[]string { return &r.Modules }),
		list(slurm, "run_args", `["--shm-size=16g"]`, anArgument, func(r *Resources) *[]string { return &r.RunArgs }),

		text(kube, "image", "", "registry.example/ttreport:v1", anImage, func(r *Resources) *string { return &r.Image }),
		text(kube, "results", "", "bench-results", kubeName, func(r *Resources) *string { return &r.Results }),
		text(kube, "results_at", "", "/mnt/bench", aFolder, func(r *Resources) *string { return &r.ResultsAt }),
		text(kube, "queue", "", "benchmarks", kubeName, func(r *Resources) *string { return &r.Queue }),
		text(kube, "service_account", "", "bench", kubeName, func(r *Resources) *string { return &r.ServiceAccount }),
		text(kube, "priority_class", "", "low", kubeName, func(r *Resources) *string { return &r.PriorityClass }),
		text(kube, "ttl", "", "86400", aNumber, func(r *Resources) *string { return &r.TTL }),
		list(kube, "devices", `["nvidia.com/gpu=8"]`, kubeKey+`=`+aCount,
			func(r *Resources) *[]string { return &r.Devices }),
		list(kube, "node_selector", `["nvidia.com/gpu.product=H100"]`, kubeKey+`=`+kubeValue,
			func(r *Resources) *[]string { return &r.NodeSelector }),
		list(kube, "tolerations", `["nvidia.com/gpu:NoSchedule"]`, kubeKey+`(=`+kubeValue+`)?`+kubeEffect,
			func(r *Resources) *[]string { return &r.Tolerations }),
		list(kube, "volumes", `["weights:/models:ro"]`, kubeName+`:`+kubePath+`(:ro)?`,
			func(r *Resources) *[]string { return &r.Volumes }),
		list(kube, "secrets", `["HF_TOKEN=hub/token"]`, aVariable+`=`+kubeName+`/[\w.-]+`,
			func(r *Resources) *[]string { return &r.Secrets }),
		list(kube, "pull_secrets", `["registry"]`, kubeName, func(r *Resources) *[]string { return &r.PullSecrets }),
	}
}

// For returns the resources without the fields that a scheduler has no word for, and the names of those that were
// stated.
func (r Resources) For(scheduler string) (own Resources, others []string) {
	own = r
	for _, f := range ResourceFields() {
		stated := f.List == nil && *f.Text(&r) != "" || f.List != nil && len(*f.List(&r)) > 0
		if !stated || f.Of == "" || f.Of == scheduler {
			continue
		}
		others = append(others, f.Name)
		if f.List == nil {
			*f.Text(&own) = ""
		} else {
			*f.List(&own) = nil
		}
	}
	return own, others
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
			taker := "Slurm"
			if f.Of == OnKubernetes {
				taker = "Kubernetes"
			}
			return fmt.Errorf("resources: %s: %q is not of the form that %s takes, as %s: %s",
				f.Name, text, taker, f.Name, f.Example)
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
