package main

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/regression/bisection"
)

const bisectHelp = `
Finds which of many builds in a row changed a number. Each step measures one build in turns with the good one, on this
machine, both freshly started, so that what the machine does slowly cancels. No step is believed for good: probabilities
over the builds are updated with every measurement, a build is measured again while it is open whether it is good or
bad, and the search ends when one build is the first bad one with 98 % (--error). A build that does not build or start
is skipped.

The builds are commits of a git repository from --good to --bad, first parents only, each checked out into a folder of
its own and built with --build; or the lines of --list, images or commands in order; or the tags of --images, as its
registry lists them, by the date or version in each; or the releases of history that can be started again.
In --server and --build, {ref} is the commit, and {dir} the folder of its checkout.

VERDICT, an id as ttreport check shows it, states model, device, workload, metric and both ends; flags take precedence.

What was measured is kept in bisect/ID/: run folders, a journal, bisect.md for an issue and bisect.html. The same
command resumes it, with what is there; --budget ends it after a time. More: ttreport help bisecting.`

func bisectCommand() command {
	return command{
		name: "bisect", args: "[VERDICT] [--good REF --bad REF] [-- ARG…]",
		summary: "find which commit, image or release changed a number", help: bisectHelp,
		examples: []example{
			{"commits", "ttreport bisect --good v1.0 --bad main --build 'make -C {dir} server' " +
				"--server '{dir}/server --port 8000' --model acme/tiny --device n150 " +
				"--workload isl=128,osl=128,c=1,n=16 --metric ttft"},
			{"nightly images of a registry", "ttreport bisect --images ghcr.io/acme/server --tags 'nightly-*' " +
				"--good nightly-20260101 --model acme/tiny --device n150 --workload isl=128,osl=128,c=8,n=64"},
			{"images that need a mount, accelerators and arguments", "ttreport bisect --images ghcr.io/acme/server " +
				"--volume /models:/models:ro --run-arg=--gpus=all --model acme/tiny --device h100 " +
				"--workload isl=128,osl=128,c=8,n=64 -- --model /models/tiny"},
			{"nightly images of a list", "ttreport bisect --list nightlies.txt --model acme/tiny --device n150 " +
				"--workload isl=128,osl=128,c=8,n=64 --metric tpot --budget 2h"},
			{"what a verdict shows, over the releases of history", "ttreport bisect 3f5b690fc7e4"},
		},
		setup: func(fs *pflag.FlagSet) runFunc {
			o := bisectOptions{rules: bisection.DefaultRules(.02)}
			o.declare(fs)
			return func(ctx context.Context, sh *shell, args []string) error {
				if at := fs.ArgsLenAtDash(); at >= 0 {
					o.container.Args, args = args[at:], args[:at]
				}
				return o.run(ctx, sh, args)
			}
		},
	}
}

// bisectOptions are the flags of bisect.
type bisectOptions struct {
	good, bad         string
	build, repo, list string
	images, tags      string
	server            string
	container         plan.ServerOptions // what every image is started with
	model, device     string
	port              int
	metric            string
	workloads         []plan.Workload
	least, error      string
	budget, startup   time.Duration
	measurements      int
	improved          bool
	dryRun            bool
	out               string
	rules             bisection.Rules
	seed              uint64
}

// Shares that are stated where no other ones are.
const leastUsual, errorUsual = "2%", "2%"

func (o *bisectOptions) declare(fs *pflag.FlagSet) {
	fs.StringVar(&o.good, "good", "", "`ref` of a build without the change: a commit, a line of --list, a release")
	fs.StringVar(&o.bad, "bad", "", "`ref` of a build with it")
	fs.StringVar(&o.build, "build", "", "`command` that builds a commit in its checkout")
	fs.StringVar(&o.repo, "repo", ".", "`folder` of the git repository")
	fs.StringVar(&o.list, "list", "", "`file` with one image or 'command …' a line, oldest first")
	fs.StringVar(&o.images, "images", "", "`image` of a registry without a tag; its builds are its tags in order")
	fs.StringVar(&o.tags, "tags", "", "`pattern` of the tags of --images, such as nightly-* (default all)")
	fs.StringVar(&o.server, "server", "", "`command` that starts the server of a commit, with {dir} and {ref}")
	o.declareContainer(fs)
	fs.IntVar(&o.port, "port", 0, "`port` of the server (default: the one in its command, else 8000)")
	fs.StringVarP(&o.model, "model", "m", "", "`name` of the model as the server serves it")
	fs.StringVar(&o.device, "device", "", "`name` of the device that serves")
	fs.Var((*plan.WorkloadList)(&o.workloads), "workload", "the workload, as `isl=128,osl=128,c=1,n=16`")
	fs.StringVar(&o.metric, "metric", "", "`name`: ttft, tpot, e2el or output_tps (default ttft)")
	fs.BoolVar(&o.improved, "improved", false, "search an improvement: the bad end is the better one")
	fs.StringVar(&o.least, "least", leastUsual, "least `change` that is searched")
	fs.StringVar(&o.error, "error", errorUsual, "`probability` of a wrong answer at which the search ends")
	fs.DurationVar(&o.budget, "budget", 0, "end after this `time`, with what is known then (default none)")
	fs.IntVar(&o.measurements, "measurements", 300, "end after this `number` of measurements")
	fs.DurationVar(&o.startup, "startup-timeout", 0, "how long a server may take to be ready (default 1h)")
	fs.BoolVar(&o.dryRun, "dry-run", false, "list the builds and what would be measured, and stop")
	fs.StringVarP(&o.out, "out", "o", "", "`folder` for what is measured (default bisect/ID)")
	fs.Uint64Var(&o.seed, "seed", 1, "`number` that fixes prompts and arrivals")
}

// declareContainer declares what every image is started with, as collect does.
func (o *bisectOptions) declareContainer(fs *pflag.FlagSet) {
	c := &o.container
	fs.StringVar(&c.ContainerEngine, "container-engine", "", "docker or podman, for images (default: the one that is "+
		"installed)")
	fs.IntVar(&c.ContainerPort, "container-port", 0, "`port` inside the containers, where it is another")
	fs.StringArrayVar(&c.Volumes, "volume", nil, "a `mount` of the containers, as /models:/models:ro; may be repeated")
	fs.StringArrayVar(&c.RunArgs, "run-arg", nil, "one more `argument` for docker run; may be repeated")
}

// containerFlags are those of declareContainer that are set, with what follows "--" last.
func (o *bisectOptions) containerFlags() []string {
	var out []string
	if c := &o.container; c.ContainerEngine != "" {
		out = append(out, "--container-engine", c.ContainerEngine)
	}
	if o.container.ContainerPort > 0 {
		out = append(out, "--container-port", strconv.Itoa(o.container.ContainerPort))
	}
	for _, v := range o.container.Volumes {
		out = append(out, "--volume", v)
	}
	for _, v := range o.container.RunArgs {
		out = append(out, "--run-arg="+v)
	}
	if len(o.container.Args) > 0 {
		out = append(append(out, "--"), o.container.Args...)
	}
	return out
}

// run finds the builds, and the first bad one of them.
func (o *bisectOptions) run(ctx context.Context, sh *shell, args []string) error {
	if len(args) > 1 {
		return fail(exitUsage, "ttreport bisect --help", "bisect: unexpected %q", args[1])
	}
	ws, err := openWorkspace(".")
	if err != nil {
		return err
	}
	if len(args) == 1 {
		if err := o.ofVerdict(ctx, ws, args[0]); err != nil {
			return err
		}
	}
	if err := o.complete(); err != nil {
		return err
	}
	refs, err := o.refs(ctx, ws)
	if err != nil {
		return err
	}
	h := &hunt{o: o, sh: sh, ws: ws, refs: refs}
	if o.dryRun {
		return h.list()
	}
	return h.run(ctx)
}

// complete fills in defaults and refuses values that do not exist; each error names the flag with an example.
func (o *bisectOptions) complete() error {
	if o.metric == "" {
		o.metric = "ttft"
	}
	var err error
	if o.rules.Least, err = share("least", o.least, 5); err != nil {
		return err
	}
	o.rules = bisection.DefaultRules(math.Log1p(o.rules.Least))
	if o.rules.Error, err = share("error", o.error, .2); err != nil {
		return err
	}
	switch {
	case o.model == "" || o.device == "":
		return fail(exitUsage, "--model acme/tiny --device n150", "bisect: --model and --device are both needed")
	case len(o.workloads) != 1:
		return fail(exitUsage, "--workload isl=128,osl=128,c=1,n=16", "bisect: one --workload is needed, and %d are given",
			len(o.workloads))
	case !strings.Contains(" ttft tpot e2el output_tps ", " "+o.metric+" "):
		return fail(exitUsage, "--metric ttft", "bisect: --metric %q is none of ttft, tpot, e2el and output_tps", o.metric)
	case o.measurements < 2:
		return fail(exitUsage, "--measurements 100", "bisect: --measurements %d is too few", o.measurements)
	case o.list != "" && (o.build != "" || o.server != ""):
		return fail(exitUsage, "leave --build and --server out: each line of the list states its server",
			"bisect: --list and --build or --server contradict each other")
	case o.images != "" && o.list+o.build+o.server != "":
		return fail(exitUsage, "leave --list, --build and --server out: each tag of the image is a build",
			"bisect: --images and --list, --build or --server contradict each other")
	case o.tags != "" && o.images == "":
		return fail(exitUsage, "--images ghcr.io/acme/server --tags 'nightly-*'", "bisect: --tags needs --images")
	case len(o.containerFlags()) > 0 && o.images+o.list == "":
		return fail(exitUsage, "--images ghcr.io/acme/server, or --list FILE with images",
			"bisect: %s is for images, and none are named", strings.Join(o.containerFlags(), " "))
	case o.build != "" && o.server == "":
		return fail(exitUsage, "--server '{dir}/server --port 8000'",
			"bisect: --build needs --server, which starts what was built")
	case o.server != "" && (o.good == "" || o.bad == ""):
		return fail(exitUsage, "--good v1.0 --bad main", "bisect: --good and --bad are both needed for commits")
	}
	return nil
}

// share reads a percentage: "2%", "2.5 %" or .02.
func share(flag, text string, most float64) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v > 0) || v > most {
		return 0, fail(exitUsage, "--"+flag+" 2%", "bisect: --%s %q is no share between 0 and %g%%", flag, text, 100*most)
	}
	return v, nil
}

// sign is +1 where the change that is searched makes the metric larger.
func (o *bisectOptions) sign() float64 {
	sign := 1.
	if info, _ := schema.MetricByName(o.metric); info.Better == schema.Higher {
		sign = -1
	}
	if o.improved {
		sign = -sign
	}
	return sign
}

// title says what is searched.
func (o *bisectOptions) title() string {
	info, _ := schema.MetricByName(o.metric)
	return fmt.Sprintf("%s of %s on %s, %s", info.Label, o.model, o.device, o.workloads[0])
}
