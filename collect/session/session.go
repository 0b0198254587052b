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
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
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
	"github.com/ttreport/ttreport/collect/traffic"
	"github.com/ttreport/ttreport/ingest/schema"
)

// Request says what to measure, and with what.
type Request struct {
	Options    plan.Options
	Spec       string // file of a specification; "" for models.yaml of the folder
	Dir        string // the workspace, where .env and models.yaml are
	Targets    func() (plan.Targets, error)
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
	Options plan.Options // with what is known of the model
	Plan    plan.Plan
	Server  server.Server
	Address string

	warn func(string)
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
	targets, err := r.Targets()
	if err != nil {
		return nil, err
	}
	p, notes, err := plan.Make(o, known, targets)
	if err != nil {
		return nil, err
	}
	for _, n := range notes {
		r.Note(n)
	}
	if err := r.writesText(known, p); err != nil {
		return nil, err
	}
	if err := haveDatasets(p); err != nil && !r.DryRun { // before a tool is installed for minutes
		return nil, err
	}
	if err := r.Finder.Fill(ctx, &p, o.Tools); err != nil {
		return nil, err
	}
	if err := r.usable(ctx, o, p, key); err != nil {
		return nil, err
	}
	address := o.Server.Name.Address(o.Server.Port)
	srv, err := server.New(server.Request{
		System: o.System, Options: o.Server, Plan: p, APIKey: key, Dir: r.Dir, Waiting: r.Waiting,
	})
	return &Session{Options: o, Plan: p, Server: srv, Address: address, warn: r.Warn}, err
}

// writesText refuses workloads of text for a model that writes none, unless a program of the user's own measures it.
func (r Request) writesText(known spec.Model, p plan.Plan) error {
	isOwn := func(name string) bool { return r.Finder.Exec[name] != "" }
	text := func(w plan.Workload) bool { return !w.Endpoint.Pools() }
	names := r.Options.Tools.Names
	if known.Type == "" || r.ServerOnly || !slices.ContainsFunc(p.Workloads, text) ||
		len(names) > 0 && isOwn(names[0]) {
		return nil
	}
	fix := "measure it with a program of yours (exec: in ttreport.yaml, ttreport help plans); results of " +
		"tt-inference-server's clients are read by ttreport build"
	if known.Type == "embedding" {
		fix = "--tools builtin --workload isl=512,c=8,n=100,endpoint=embeddings"
	}
	return plan.UsageError{
		Err: fmt.Errorf("collect: %s is a model of type %s: it writes no text, and these workloads are text",
			known.Model, known.Type),
		Fix: fix,
	}
}

// key is the API key of the server. Tools get the token of the hub from .env.
func (r Request) key() (string, error) {
	o := r.Options
	if o.Server.Name.Kind == plan.ServerSim {
		return "", nil
	}
	file, err := credentials.Open(r.Dir)
	if err != nil {
		return "", plan.UsageError{Err: fmt.Errorf("collect: %w", err)}
	}
	if file.Warning != "" {
		r.Warn(file.Warning)
	}
	if err := file.ExportToken(); err != nil {
		return "", fmt.Errorf("collect: %w", err)
	}
	docker := o.Server.Name.Kind == plan.ServerDocker && !o.Server.NoAuth && !r.DryRun
	return file.Key(docker && server.IsTenstorrent(o.System.Device), r.Ask)
}

// known is what is stated of the model: by a specification or models.yaml, and by the server where it runs already. The
// key is replaced by one that a person types where the server wants another.
func (r Request) known(ctx context.Context, key *string) (spec.Model, error) {
	s := r.Options.System
	stated, err := spec.Lookup(r.Dir, r.Spec, s.Model, s.Device, s.Impl)
	if err != nil {
		if r.Spec != "" {
			err = fmt.Errorf("collect: --spec: %w", err)
			return stated, plan.UsageError{Err: err, Fix: "as in --spec runtime_model_spec.json"}
		}
		return stated, plan.UsageError{Err: fmt.Errorf("collect: %w", err)}
	}
	limit := 0
	if r.Options.Server.Name.Kind == plan.ServerURL && !r.DryRun {
		end, err := r.probe(ctx, key)
		if errors.Is(err, server.ErrDenied) {
			return stated, err
		}
		limit = end.Context // one that is not ready yet is waited for later
	}
	return r.Options.Known(stated, limit), nil
}

// probe asks a running server what it serves; one that wants a key is asked again with one that a person types.
func (r Request) probe(ctx context.Context, key *string) (server.Endpoint, error) {
	at := server.Attached{URL: r.Options.Server.Name.URL, Model: r.Options.System.Model, APIKey: *key}
	end, err := at.Probe(ctx)
	if !errors.Is(err, server.ErrDenied) {
		return end, err
	}
	typed, ok := r.Ask(credentials.OpenAIKey, at.URL+" wants a key")
	if !ok {
		return end, err
	}
	*key, at.APIKey = typed, typed
	return at.Probe(ctx)
}

// Lock keeps other processes from measuring the same device or server, or servers at other addresses, until release is
// called. The simulator needs no
// lock: each process has its own.
func (s *Session) Lock(also ...string) (release func(), err error) {
	device := s.Options.System.Device
	if device == schema.Simulated {
		return func() {}, nil
	}
	return collect.Lock(s.warn, device, append(also, s.Address)...)
}

// ErrNotStarted is returned where a server is to be left running and is none that is started here.
var ErrNotStarted = errors.New("that is no server that could be started")

// Detach starts the server and leaves it running; its log is in a folder.
func (s *Session) Detach(ctx context.Context, dir string) (server.Detached, error) {
	d, ok := s.Server.(detacher)
	if !ok {
		return server.Detached{}, ErrNotStarted
	}
	return d.Detach(ctx, dir)
}

// detacher is a server that can be left running.
type detacher interface {
	Detach(ctx context.Context, dir string) (server.Detached, error)
}

// Detaches reports that the server is one that is started here, and so can be left running.
func (s *Session) Detaches() bool { _, ok := s.Server.(detacher); return ok }

// usable refuses tools that cannot take the key, or lack the tokenizer that they need, before a server is started: they
// would fail at each workload, some of them after a minute.
func (r Request) usable(ctx context.Context, o plan.Options, p plan.Plan, key string) error {
	if r.DryRun || p.Offline() {
		return nil
	}
	needs := "" // a tokenizer
	for _, t := range p.Tools {
		if key != "" && t.Keyless {
			return plan.UsageError{
				Err: fmt.Errorf("collect: the server wants a key, which %s takes only on its command line, "+
					"where every user of this machine could read it", t.Name),
				Fix: "leave it out of --tools, or start the server without a key: --no-auth",
			}
		}
		if key != "" && !t.Flags.Has(t.KeyFlag) {
			return plan.UsageError{
				Err: fmt.Errorf("collect: the server wants a key, and %s %s has no %s, by which it takes one safely",
					t.Name, t.Release, t.KeyFlag),
				Fix: "install another version of it, or let ttreport install one: ttreport doctor --make " + t.Name,
			}
		}
		if t.Tokens {
			needs = cmp.Or(needs, t.Name)
		}
	}
	if needs == "" {
		return nil
	}
	return haveTokenizer(ctx, needs, p.Tokenizer, cmp.Or(p.Model.ID, r.served(o)))
}

// served is the name that a server gives its model, where it is the name of a repository for sure.
func (r Request) served(o plan.Options) string {
	if o.Server.Name.Kind == plan.ServerURL || strings.Contains(o.System.Model, "/") {
		return o.System.Model
	}
	return ""
}

// hubPatience is how long a hub may take to answer.
const hubPatience = 8 * time.Second

// haveTokenizer returns an error if the tokenizer of a model cannot be had: a folder, a name in the cache of the hub,
// or one on the hub. model stands in where none is named; "" cannot be checked.
func haveTokenizer(ctx context.Context, tool, tokenizer, model string) error {
	name := cmp.Or(tokenizer, model)
	if name == "" {
		return nil
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return nil
	}
	if cached(name) {
		return nil
	}
	err := onHub(ctx, name)
	if err == nil {
		return nil
	}
	return plan.UsageError{
		Err: fmt.Errorf("collect: %s needs the tokenizer of the model, and %s cannot be had: %w", tool, name, err),
		Fix: "--tokenizer FOLDER with tokenizer.json, or the name of a model on the hub that has the same one",
	}
}

// cached reports whether the cache of the hub has a model.
func cached(name string) bool {
	for _, file := range []string{"tokenizer*", "*.model", "vocab*"} {
		pattern := filepath.Join(hubCache(), "models--"+strings.ReplaceAll(name, "/", "--"), "snapshots", "*", file)
		if found, err := filepath.Glob(pattern); err == nil && len(found) > 0 {
			return true
		}
	}
	return false
}

// errOffline is returned where the hub must not be asked.
var errOffline = errors.New("it is not in the cache, and HF_HUB_OFFLINE is set")

// onHub asks the hub for a model. A redirect to where the file is kept is an answer.
func onHub(ctx context.Context, name string) error {
	if hubForbidden() {
		return errOffline
	}
	ask, hub, err := hubRequest(ctx, http.MethodHead, name, "tokenizer_config.json")
	if err != nil {
		return err
	}
	answer, err := origin.Client(hubPatience).Do(ask)
	switch {
	case errors.Is(err, origin.ErrElsewhere):
		return nil
	case err != nil:
		return fmt.Errorf("asking %s: %w", hub, origin.Words(err))
	}
	defer answer.Body.Close()
	switch answer.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("%s denies access: the name is wrong, or the model is gated and HF_TOKEN may not read it", hub)
	case http.StatusNotFound:
		return fmt.Errorf("%s has none of that name", hub)
	}
	return nil
}

// path escapes the parts of a repository's name.
func path(name string) string {
	owner, rest, found := strings.Cut(name, "/")
	if !found {
		return url.PathEscape(owner)
	}
	return url.PathEscape(owner) + "/" + url.PathEscape(rest)
}

// haveDatasets returns an error if a workload needs a file that nobody has fetched.
func haveDatasets(p plan.Plan) error {
	for _, w := range p.Workloads {
		if w.Dataset == traffic.ShareGPT && w.Path == "" {
			return plan.UsageError{
				Err: fmt.Errorf("collect: %s needs ShareGPT, and %s is not in this folder", w, traffic.ShareGPTFile),
				Fix: "fetch it once (640 MB): curl -LO https://huggingface.co/datasets/anon8231489123/" +
					"ShareGPT_Vicuna_unfiltered/resolve/main/" + traffic.ShareGPTFile +
					"; or state another path: dataset-path in the configuration, path=FILE in --workload",
			}
		}
		if w.Path == "" {
			continue
		}
		if _, err := os.Stat(w.Path); err != nil {
			return plan.UsageError{Err: fmt.Errorf("collect: the dataset of %s: %w", w, err), Fix: "path=FILE"}
		}
	}
	return nil
}

// lengthNames are the members of a model's configuration that state its context, by Transformers' conventions, as vLLM
// reads them (vllm/config, _get_and_verify_max_len); the smallest that is stated holds.
func lengthNames() []string {
	return []string{
		"max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "model_max_length", "max_target_positions",
		"max_sequence_length", "max_seq_length", "seq_len",
	}
}

// LongestOf returns how many tokens a model takes at most, by its configuration in a folder, in the cache of the hub or
// on the hub; 0 where that cannot be known. offline keeps it from asking the hub.
func LongestOf(ctx context.Context, model string, offline bool) int {
	for _, pattern := range []string{
		filepath.Join(model, "config.json"),
		filepath.Join(hubCache(), "models--"+strings.ReplaceAll(model, "/", "--"), "snapshots", "*", "config.json"),
	} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			continue
		}
		slices.Sort(found)
		if data, err := os.ReadFile(found[len(found)-1]); err == nil {
			return longestIn(data)
		}
	}
	if offline || hubForbidden() || !strings.Contains(model, "/") || filepath.IsAbs(model) {
		return 0
	}
	return longestIn(fromHub(ctx, model, "config.json"))
}

// longestIn is the length that a configuration states, 0 for none.
func longestIn(data []byte) int {
	var config map[string]json.RawMessage
	if json.Unmarshal(data, &config) != nil {
		return 0
	}
	longest := 0
	for _, name := range lengthNames() {
		var n int
		if json.Unmarshal(config[name], &n) == nil && n > 0 && (longest == 0 || n < longest) {
			longest = n
		}
	}
	return longest
}

// hubCache is the folder in which files of the hub are kept, "" where there is none.
func hubCache() string {
	if cache := cmp.Or(os.Getenv("HF_HUB_CACHE"), os.Getenv("HUGGINGFACE_HUB_CACHE")); cache != "" {
		return cache
	}
	if home := os.Getenv("HF_HOME"); home != "" {
		return filepath.Join(home, "hub")
	}
	user, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(user, ".cache", "huggingface", "hub")
}

// hubForbidden reports that the user forbids to ask the hub.
func hubForbidden() bool {
	v := os.Getenv("HF_HUB_OFFLINE")
	return v == "1" || strings.EqualFold(v, "true")
}

// hubRequest asks the hub for a file of a model.
func hubRequest(ctx context.Context, method, model, file string) (*http.Request, string, error) {
	hub := strings.TrimSuffix(cmp.Or(os.Getenv("HF_ENDPOINT"), "https://huggingface.co"), "/")
	r, err := http.NewRequestWithContext(ctx, method, hub+"/"+path(model)+"/resolve/main/"+file, nil)
	if err != nil {
		return nil, hub, err
	}
	if token := os.Getenv("HF_TOKEN"); token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return r, hub, nil
}

// mostConfig bounds a model's configuration, in bytes.
const mostConfig = 1 << 20

// fromHub returns a small file of a model, nil where it cannot be had.
func fromHub(ctx context.Context, model, file string) []byte {
	ask, _, err := hubRequest(ctx, http.MethodGet, model, file)
	if err != nil {
		return nil
	}
	answer, err := origin.Client(hubPatience).Do(ask)
	if err != nil {
		return nil
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, mostConfig))
	if err != nil || answer.StatusCode != http.StatusOK {
		return nil
	}
	return data
}
