package collect

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect/process"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// Container is a server that we start from an image with docker or podman.
type Container struct {
	Engine  string   // docker or podman, or a path
	Image   string   // by name or by digest
	Run     []string // more arguments of "run": mounts, devices, environment
	Args    []string // of the image
	Inner   int      // port that it listens on inside; 0: the port of URL
	URL     string   // where it will answer, on loopback
	Model   string
	APIKey  string
	Wait    time.Duration
	Waiting func(error)

	hurry context.Context
	id    string
	log   string
	logs  *process.Child // follows what it prints, and ends with it
}

// Start runs the image and waits until it is ready.
func (c *Container) Start(ctx context.Context, dir string) (Endpoint, error) {
	if err := vacate(ctx, c.URL, c.Waiting); err != nil {
		return Endpoint{}, err
	}
	argv, err := c.argv()
	if err != nil {
		return Endpoint{}, err
	}
	id, err := c.ask(ctx, argv...)
	if err != nil {
		return Endpoint{}, err
	}
	c.id, c.log, c.hurry = strings.TrimSpace(id), filepath.Join(dir, ServerLog), process.Hurry(ctx)
	noteServer(c.URL, "container", c.Engine, c.id)
	if c.logs, err = process.Start(process.Spec{Argv: []string{c.Engine, "logs", "-f", c.id}, Log: c.log, Grace: 2 * time.Second}); err != nil {
		return Endpoint{}, err
	}
	end, err := untilReady(ctx, &Attached{URL: c.URL, Model: c.Model, APIKey: c.APIKey, Wait: orHour(c.Wait), Waiting: c.Waiting}, dir, c)
	if err != nil {
		return end, err
	}
	c.identify(ctx, &end.Stack)
	return end, nil
}

// argv is the command that starts the container. It is not run with --rm: what it printed last is read when it has died.
func (c *Container) argv() ([]string, error) {
	u, err := url.Parse(c.URL)
	if err != nil {
		return nil, fmt.Errorf("server address: %w", err)
	}
	host, port, err := net.SplitHostPort(u.Host)
	if err != nil {
		return nil, fmt.Errorf("server address: %w", err)
	}
	inner := port
	if c.Inner > 0 {
		inner = fmt.Sprint(c.Inner)
	}
	tag := make([]byte, 4)
	_, _ = rand.Read(tag) // never fails
	argv := []string{"run", "-d", "--name", "ttreport-" + hex.EncodeToString(tag), "-p", host + ":" + port + ":" + inner}
	return append(append(append(argv, c.Run...), c.Image), c.Args...), nil
}

// words are the command line that Start runs.
func (c *Container) words() []string {
	argv, err := c.argv()
	if err != nil {
		return nil
	}
	return append([]string{c.Engine}, argv...)
}

// ask runs the engine and returns what it prints.
func (c *Container) ask(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, c.Engine, args...)
	var out, bad bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &bad
	if err := cmd.Run(); err != nil {
		if text := strings.TrimSpace(bad.String()); text != "" {
			return "", fmt.Errorf("%s %s: %s", filepath.Base(c.Engine), args[0], redact.Text(text))
		}
		return "", fmt.Errorf("%s %s: %w", filepath.Base(c.Engine), args[0], err)
	}
	return out.String(), nil
}

// identify fills in the image and what its labels say of commits. What the engine does not know stays unknown.
func (c *Container) identify(ctx context.Context, s *manifest.Stack) {
	s.Image = c.Image
	text, err := c.ask(ctx, "inspect", "--format", "{{.Image}} {{json .Config.Labels}}", c.id)
	if err != nil {
		return
	}
	image, labels, _ := strings.Cut(strings.TrimSpace(text), " ")
	if digests, err := c.ask(ctx, "image", "inspect", "--format", "{{json .RepoDigests}}", image); err == nil {
		var list []string
		if json.Unmarshal([]byte(digests), &list) == nil && len(list) > 0 {
			_, s.Digest, _ = strings.Cut(list[0], "@")
		}
	}
	if s.Digest == "" && image != "" { // an image that was never pushed or pulled has an id alone
		s.Digest = "sha256:" + strings.TrimPrefix(image, "sha256:")
	}
	s.Commits = commitsInTag(c.Image)
	var named map[string]string
	if json.Unmarshal([]byte(labels), &named) != nil {
		return
	}
	for name, value := range named {
		if at := strings.LastIndexByte(name, '.'); strings.HasSuffix(name, "revision") || strings.HasSuffix(name, "commit") || strings.HasSuffix(name, "sha") {
			if s.Commits == nil {
				s.Commits = map[string]string{}
			}
			s.Commits[name[at+1:]] = value
		}
	}
}

// tagged is how tt-inference-server tags its images: version, tt-metal's commit, vLLM's.
var tagged = regexp.MustCompile(`:(\d+\.\d+\.\d+)-([0-9a-f]{7,40})-([0-9a-f]{7,40})(?:@|$)`)

func commitsInTag(image string) map[string]string {
	m := tagged.FindStringSubmatch(image)
	if m == nil {
		return nil
	}
	return map[string]string{"tt_metal": m[2], "vllm": m[3], "tt_inference_server": m[1]}
}

// Died is closed when the container has ended: the engine follows its log to the end.
func (c *Container) Died() <-chan struct{} { return c.logs.Done() }

// LastWords are the last lines of its log.
func (c *Container) LastWords() []string { return process.LastLines(c.log, 5) }

// Stop stops and removes the container, by its id.
func (c *Container) Stop() {
	if c.id == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	asked, done := context.WithCancel(ctx)
	defer context.AfterFunc(c.hurry, done)()
	_, _ = c.ask(asked, "stop", "-t", "30", c.id) // it may have ended by itself
	done()
	if c.logs != nil {
		c.logs.Stop(ctx)
	}
	_, _ = c.ask(ctx, "rm", "-f", c.id)
	forgetServer(c.URL)
	c.id, c.logs = "", nil
}

// IsTenstorrent reports whether a device is one of Tenstorrent's, by the names that tt-inference-server has for them.
func IsTenstorrent(device string) bool {
	name := strings.ToLower(device)
	for _, prefix := range []string{"e150", "n150", "n300", "t3k", "galaxy", "tg", "p100", "p150", "p300", "blackhole_galaxy", "dual_galaxy", "quad_galaxy", "super_cluster"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// DeviceArgs are the arguments of "run" that Tenstorrent's devices need: shared memory, the device nodes, huge pages, and a volume in which
// converted weights and compiled kernels stay, of the name and at the place that tt-inference-server's run.py has for it. ids are the
// numbers of devices, "0,1"; "" gives all.
func DeviceArgs(device, ids, impl, model string) []string {
	if !IsTenstorrent(device) {
		return nil
	}
	argv := []string{"--ipc", "host"}
	if ids == "" {
		argv = append(argv, "--device", "/dev/tenstorrent")
	}
	for _, id := range strings.FieldsFunc(ids, func(r rune) bool { return r == ',' }) {
		argv = append(argv, "--device", "/dev/tenstorrent/"+id)
	}
	if impl == "" {
		impl = "tt-transformers"
	}
	return append(argv, "--mount", "type=bind,src=/dev/hugepages-1G,dst=/dev/hugepages-1G", "--volume", "volume_id_"+strings.ReplaceAll(impl, "-", "_")+"-"+model+":/home/container_app_user/cache_root")
}
