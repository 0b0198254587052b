package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"time"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/collect/server"
)

// hub is where models and their terms are.
const hub = "https://huggingface.co"

// accessFinding asks the hub whether a model can be downloaded.
func accessFinding(ctx context.Context, ws *workspace.Workspace, hub, model string) finding {
	what := "access to " + model
	token := os.Getenv("HF_TOKEN")
	if token == "" {
		file, _, err := dotenv(ws.Dir)
		if err == nil {
			token = file["HF_TOKEN"]
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, hub+"/"+model+"/resolve/main/config.json", nil)
	if err != nil {
		return finding{false, what, err.Error(), ""}
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return finding{true, what, "unknown: the hub cannot be reached", ""}
	}
	_ = resp.Body.Close() // HEAD has none
	switch resp.StatusCode {
	case http.StatusOK:
		return finding{true, what, "yes", ""}
	case http.StatusUnauthorized:
		set := "not set"
		if token != "" {
			set = "set"
		}
		return finding{
			false, what, "refused: it is gated, private, or does not exist, and HF_TOKEN is " + set,
			"set HF_TOKEN, in the environment or in .env, to a token of an account that has access",
		}
	case http.StatusForbidden:
		found := "refused: its terms are not accepted by the account of HF_TOKEN"
		return finding{false, what, found, "accept them at " + hub + "/" + model}
	case http.StatusNotFound:
		return finding{false, what, "no such model, or none with a config.json", ""}
	}
	return finding{true, what, fmt.Sprintf("unknown: the hub answers HTTP %d", resp.StatusCode), ""}
}

// imageFinding asks the container engine whether an image is pulled.
func imageFinding(ctx context.Context, image string) finding {
	what := "image " + middle(image, pathWidth)
	engine := server.InstalledEngine()
	if engine == "" {
		return finding{false, what, "neither docker nor podman is installed", "apt-get install podman"}
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, engine, "image", "inspect", "--format", "{{.Id}}", image).Output()
	if err != nil {
		return finding{false, what, "not pulled; it is pulled when it is first used", engine + " pull " + image}
	}
	return finding{true, what, string(out[:min(len(out), 19)]), ""}
}
