// Package session goes from a request to a plan and a server that can be measured: secrets, what is known of the model,
// workloads, tools, the server.
//
// In: options of package plan, and what the workspace has: its folder, its targets, its tools. Out: a [Session], for
// [collect.Run]. It must not measure, print, or know a terminal: what a person must learn goes to functions of the
// request.
package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/collect/credentials"
	"github.com/ttreport/ttreport/collect/origin"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/plan/spec"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/collect/tool"
	"github.com/ttreport/ttreport/collect/traffic"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// Request says what to measure, and with what.
type Request struct {
	Options    plan.Options
	Spec       string // file of a specification; "" for models.yaml of the folder
	Dir        string // the workspace, where .env and models.yaml are
	Targets    plan.Targets
	Finder     plan.Finder
	ServerOnly bool // nothing is measured
	DryRun     bool // nothing is asked of a person or a server

	Ask     credentials.Ask
	Warn    func(string)               // what bears on secrets and locks
	Note    func(plan.Note)            // what was assumed or left out
	Waiting func(time.Duration, error) // how long a server has been waited for, and why
}

// Session is a plan and the server that it is measured on.
type Session struct {
	collect.Side
	Options plan.Options // with what is known of the model
	warn    func(string)
}

// New prepares a session. Mistakes in the request are [plan.UsageError] values; a server that wants another key is
// [server.ErrDenied]; other errors are of tools that are missing.
func New(ctx context.Context, r Request) (*Session, error) {
	if err := r.Options.Check(); err != nil {
		return nil, err
	}
	if r.Options.Server.Name.IsZero() {
		r.Options.Server.Name.Kind = plan.ServerSim
	}
	if err := r.Options.Server.OnlyFor(); err != nil {
		return nil, err
	}
	key, err := r.key()
	if err != nil {
		return nil, err
	}
	known, err := r.known(ctx, &key)
	if err != nil {
		return nil, err
	}
	o := r.Options.Complete(known)
	p, notes, err := plan.Make(o, known, r.Targets)
	if err != nil {
		return nil, err
	}
	for _, n := range notes {
		r.Note(n)
	}
	if err := cmp.Or(isOneHost(o), r.makesLoad(known, p)); err != nil { // before a tool is installed for minutes
		return nil, err
	}
	if !r.ServerOnly { // which needs no tools
		if err := r.Finder.Fill(ctx, &p, o.Tools); err != nil {
			return nil, err
		}
	}
	if err := r.usable(ctx, o, p, key); err != nil {
		return nil, err
	}
	srv, err := server.New(server.Request{
		System: o.System, Options: o.Server, Plan: p, APIKey: key, Dir: r.Dir, Waiting: r.Waiting,
	})
	return &Session{collect.Side{Plan: p, Server: srv, Address: o.Server.Name.Address(o.Server.Port)}, o, r.Warn}, err
}

// isOneHost refuses to start a container for a device that is several machines, or of an image that is made for one.
func isOneHost(o plan.Options) error {
	hosts := []string{"dual_galaxy", "quad_galaxy", plan.SuperCluster}
	several := slices.Contains(hosts, strings.ToLower(o.System.Device)) ||
		strings.Contains(o.Server.Image, "-multihost-")
	if o.Server.Name.Kind != plan.ServerDocker || !several {
		return nil
	}
	if strings.EqualFold(o.System.Device, plan.SuperCluster) {
		return plan.Usage("measure it where it is: --server URL", "collect: %s is a service at an address, not an image",
			plan.SuperCluster)
	}
	return plan.Usage("start it with its run.py, and measure it: --server URL", "collect: %s is several hosts, on each "+
		"of which tt-inference-server starts its image, joined by SSH and MPI: one container is not that server",
		o.System.Device)
}

// makesLoad refuses workloads of text for a model that writes none, unless a program of the user's own measures it, and
// those whose dataset nobody has fetched.
func (r Request) makesLoad(known spec.Model, p plan.Plan) error {
	names := r.Options.Tools.Names
	own := len(names) > 0 && r.Finder.Exec[names[0]] != ""
	silent := known.Type != "" && !r.ServerOnly && !own
	fix := "measure it with a program of yours (exec: in ttreport.yaml, ttreport help plans); results of " +
		"tt-inference-server's clients are read by ttreport build"
	if known.Type == "embedding" {
		fix = "--tools builtin --workload isl=512,c=8,n=100,endpoint=embeddings"
	}
	for _, w := range p.Workloads {
		_, err := os.Stat(w.Path)
		switch {
		case silent && !w.Endpoint.Pools():
			return plan.Usage(fix, "collect: %s is a model of type %s: it writes no text, and these workloads are text",
				known.Model, known.Type)
		case r.DryRun:
		case w.Dataset == traffic.ShareGPT && w.Path == "":
			return plan.Usage("fetch it once (640 MB): curl -LO https://huggingface.co/datasets/anon8231489123/"+
				"ShareGPT_Vicuna_unfiltered/resolve/main/"+traffic.ShareGPTFile+
				"; or state another path: dataset-path in the configuration, path=FILE in --workload",
				"collect: %s needs ShareGPT, and %s is not in this folder", w, traffic.ShareGPTFile)
		case w.Path != "" && err != nil:
			return plan.Usage("path=FILE", "collect: the dataset of %s: %w", w, err)
		}
	}
	return nil
}

// key is the API key of the server. Tools get the token of the hub from .env.
func (r Request) key() (string, error) {
	o := r.Options
	if o.Server.Name.Kind == plan.ServerSim {
		return "", nil
	}
	file, err := credentials.Open(r.Dir)
	if err != nil {
		return "", plan.Usage("", "collect: %w", err)
	}
	if file.Warning != "" {
		r.Warn(file.Warning)
	}
	if err := file.ExportToken(); err != nil {
		return "", fmt.Errorf("collect: %w", err)
	}
	docker := o.Server.Name.Kind == plan.ServerDocker && !o.Server.NoAuth && !r.DryRun
	return file.Key(docker && server.IsTenstorrent(o.System.Device), func(name, why string) (string, bool) {
		value, ok := r.Ask(name, why)
		if !ok { // in CI, where nobody can type
			r.Warn(why + ", which is neither in the environment nor in .env")
		}
		return value, ok
	})
}

// known is what is stated of the model: by a specification or models.yaml, and by the server where it runs already. The
// key is replaced by one that a person types where the server wants another.
func (r Request) known(ctx context.Context, key *string) (spec.Model, error) {
	s, name := r.Options.System, r.Options.Server.Name
	stated, err := spec.Lookup(r.Dir, r.Spec, s.Model, s.Device, s.Impl)
	misspelt, is := errors.AsType[spec.MisspeltError](err)
	if is && s.New {
		err = nil
	}
	switch {
	case err != nil && is:
		return stated, plan.Usage("correct it, or confirm a new name with --new-device", "collect: %w", misspelt)
	case err != nil && r.Spec != "":
		return stated, plan.Usage("as in --spec runtime_model_spec.json", "collect: --spec: %w", err)
	case err != nil:
		return stated, plan.Usage("", "collect: %w", err)
	case name.Kind != plan.ServerURL || r.DryRun:
		return r.Options.Known(stated, 0), nil
	}
	at := server.Attached{URL: name.URL, Model: s.Model, APIKey: *key}
	end, err := at.Probe(ctx)
	if errors.Is(err, server.ErrDenied) {
		if typed, ok := r.Ask(credentials.OpenAIKey, at.URL+" wants a key"); ok {
			*key, at.APIKey = typed, typed
			end, err = at.Probe(ctx)
		}
	}
	if errors.Is(err, server.ErrDenied) {
		return stated, err
	}
	return r.Options.Known(stated, end.Context), nil // one that is not ready yet is waited for later
}

// Lock keeps other processes from measuring the same servers, of this session and of others, and from starting one on
// an accelerator of those that are started here, until release is called. The simulator needs no lock: each process has
// its own.
func (s *Session) Lock(also ...*Session) (release func(), err error) {
	if s.Options.System.Device == schema.Simulated {
		return func() {}, nil
	}
	var accelerators, addresses []string
	for _, of := range append(also, s) {
		addresses = append(addresses, of.Address)
		if of.Options.Server.Name.Kind != plan.ServerURL {
			accelerators = append(accelerators, collect.Accelerators(of.Options.Server.DeviceIDs)...)
		}
	}
	return collect.Lock(s.warn, accelerators, addresses...)
}

// usable refuses tools that cannot take the key, or lack the tokenizer that they need, before a server is started: they
// would fail at each workload, some of them after a minute.
func (r Request) usable(ctx context.Context, o plan.Options, p plan.Plan, key string) error {
	if r.ServerOnly || r.DryRun || p.Offline() {
		return nil
	}
	needs := "" // a tokenizer
	for _, t := range p.Tools {
		if key != "" && t.Keyless {
			return plan.Usage("leave it out of --tools, or start the server without a key: --no-auth",
				"collect: the server wants a key, which %s takes only on its command line, where every user of this machine could "+
					"read it", t.Name)
		}
		if key != "" && !t.Flags.Has(t.KeyFlag) {
			return plan.Usage("install another version of it, or let ttreport install one: ttreport doctor --make "+t.Name,
				"collect: the server wants a key, and %s %s has no %s, by which it takes one safely", t.Name, t.Release, t.KeyFlag)
		}
		if t.Tokens {
			needs = cmp.Or(needs, t.Name)
		}
	}
	name := cmp.Or(p.Tokenizer, p.Model.ID)
	if o.Server.Name.Kind == plan.ServerURL || strings.Contains(o.System.Model, "/") {
		name = cmp.Or(name, o.System.Model) // as the server names it, which is that of a repository for sure
	}
	if needs == "" || name == "" {
		return nil
	}
	return haveTokenizer(ctx, needs, name)
}

// haveTokenizer returns an error if the tokenizer that a tool needs is in no folder, cache or hub.
func haveTokenizer(ctx context.Context, of, name string) error {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return nil
	}
	for _, file := range []string{"tokenizer*", "*.model", "vocab*"} {
		if cached(name, file) != "" {
			return nil
		}
	}
	status, _, hub, err := tool.AskHub(ctx, http.MethodHead, name, "tokenizer_config.json", os.Getenv("HF_TOKEN"))
	switch {
	case errors.Is(err, origin.ErrElsewhere): // where the file is kept
		err = nil
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		err = fmt.Errorf("%s denies access: the name is wrong, or the model is gated and HF_TOKEN may not read it", hub)
	case status == http.StatusNotFound:
		err = fmt.Errorf("%s has no model of that name", hub)
	}
	if err != nil {
		return plan.Usage("--tokenizer FOLDER with tokenizer.json, or the name of a model on the hub that has the same one",
			"collect: %s needs the tokenizer of the model, and %s cannot be fetched: %w", of, name, err)
	}
	return nil
}

// cached returns the newest file of a model that the cache of the hub has under a pattern; "" for none.
func cached(model, pattern string) string {
	cache := cmp.Or(os.Getenv("HF_HUB_CACHE"), os.Getenv("HUGGINGFACE_HUB_CACHE"))
	if home := os.Getenv("HF_HOME"); cache == "" && home != "" {
		cache = filepath.Join(home, "hub")
	} else if user, err := os.UserHomeDir(); cache == "" && err == nil {
		cache = filepath.Join(user, ".cache", "huggingface", "hub")
	}
	found, err := filepath.Glob(
		filepath.Join(cache, "models--"+strings.ReplaceAll(model, "/", "--"), "snapshots", "*", pattern))
	if err != nil || len(found) == 0 {
		return ""
	}
	return slices.Max(found)
}

// LongestOf returns how many tokens a model takes at most, by its configuration in a folder, in the cache of the hub or
// on the hub; 0 where that cannot be known. offline keeps it from asking the hub.
func LongestOf(ctx context.Context, model string, offline bool) int {
	data, err := os.ReadFile(filepath.Join(model, "config.json"))
	if name := cached(model, "config.json"); err != nil && name != "" {
		data, err = os.ReadFile(name)
	}
	if err != nil && !offline && strings.Contains(model, "/") && !filepath.IsAbs(model) {
		_, data, _, _ = tool.AskHub(ctx, http.MethodGet, model, "config.json", os.Getenv("HF_TOKEN")) // else it is no JSON
	}
	config := decode.Parse(data, 32)
	longest := 0 // the smallest that is stated, under the names that vLLM reads (vllm/config, _get_and_verify_max_len)
	for _, name := range []string{
		"max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "model_max_length", "max_target_positions",
		"max_sequence_length", "max_seq_length", "seq_len",
	} {
		if n, _ := config.Get(name).Int(); n > 0 && (longest == 0 || n < longest) {
			longest = n
		}
	}
	return longest
}
