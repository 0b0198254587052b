package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect/origin"
	"github.com/ttreport/ttreport/collect/plan"
)

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
