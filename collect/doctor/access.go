package doctor

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"time"

	"github.com/ttreport/ttreport/collect/credentials"
	"github.com/ttreport/ttreport/collect/origin"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/ingest/plaintext"
)

// hub is where models and their terms are.
const hub = "https://huggingface.co"

// access asks the hub whether a model can be downloaded.
func access(ctx context.Context, r Request) Finding {
	what, at := "access to "+r.Model, cmp.Or(r.hub, hub)
	file, _ := credentials.Open(r.Dir) // what is wrong with it is a finding of its own
	token := file.Get(credentials.HFToken)
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, at+"/"+r.Model+"/resolve/main/config.json", nil)
	if err != nil {
		return Finding{false, what, err.Error(), ""}
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := origin.Client(0).Do(req)
	if err != nil {
		return Finding{true, what, "unknown: the hub cannot be reached", ""}
	}
	_ = resp.Body.Close() // HEAD has none
	switch resp.StatusCode {
	case http.StatusOK:
		return Finding{true, what, "yes", ""}
	case http.StatusUnauthorized:
		set := "not set"
		if token != "" {
			set = "set"
		}
		return Finding{
			false, what, "refused: it is gated, private, or does not exist, and HF_TOKEN is " + set,
			"set HF_TOKEN, in the environment or in .env, to a token of an account that has access",
		}
	case http.StatusForbidden:
		found := "refused: its terms are not accepted by the account of HF_TOKEN"
		return Finding{false, what, found, "accept them at " + at + "/" + r.Model}
	case http.StatusNotFound:
		return Finding{false, what, "no such model, or none with a config.json", ""}
	}
	return Finding{true, what, fmt.Sprintf("unknown: the hub answers HTTP %d", resp.StatusCode), ""}
}

// image asks the container engine whether an image is pulled.
func image(ctx context.Context, name string) Finding {
	what := "image " + plaintext.Middle(name, plaintext.PathWidth)
	engine := server.InstalledEngine()
	if engine == "" {
		return Finding{false, what, "neither docker nor podman is installed", "apt-get install podman"}
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, engine, "image", "inspect", "--format", "{{.Id}}", name).Output()
	if err != nil {
		return Finding{false, what, "not pulled; it is pulled when it is first used", engine + " pull " + name}
	}
	return Finding{true, what, string(out[:min(len(out), 19)]), ""}
}
