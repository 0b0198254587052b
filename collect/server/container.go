package server

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"al.essio.dev/pkg/shellescape"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// Container is a server that is started from an image with docker or podman: "docker run" in the foreground, whose
// output is that of the container.
type Container struct {
	Command
	Engine string   // docker or podman, or a path
	Image  string   // by name or by digest
	Args   []string // of the image
	name   string
}

// Start runs the image and waits until it is ready.
func (c *Container) Start(ctx context.Context, dir string) (Endpoint, error) {
	if _, err := c.ask(ctx, "image", "inspect", c.Image); err != nil { // which takes as long as it takes
		if _, err := c.ask(ctx, "pull", c.Image); err != nil {
			return Endpoint{}, err
		}
	}
	end, err := c.Command.Start(ctx, dir)
	if err == nil {
		c.identify(ctx, &end.Stack)
	}
	return end, err
}

// ask runs the engine and returns what it prints.
func (c *Container) ask(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, c.Engine, args...)
	var out, bad bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &bad
	err := cmd.Run()
	if text := strings.TrimSpace(bad.String()); err != nil && text != "" {
		err = errors.New(redact.Text(text))
	}
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", filepath.Base(c.Engine), args[0], err)
	}
	return strings.TrimSpace(out.String()), nil
}

// identify fills in the image and the commits in its labels. What the engine does not know stays unknown.
func (c *Container) identify(ctx context.Context, s *schema.Stack) {
	s.Image = c.Image
	text, err := c.ask(ctx, "inspect", "--format", "{{.Image}} {{json .Config.Labels}}", c.name)
	if err != nil {
		return
	}
	image, labels, _ := strings.Cut(text, " ")
	if digests, err := c.ask(ctx, "image", "inspect", "--format", "{{json .RepoDigests}}", image); err == nil {
		_, s.Digest, _ = strings.Cut(decode.Parse([]byte(digests), 8).At("0").Str(), "@")
	}
	if s.Digest == "" && image != "" { // an image that was never pushed or pulled has only an id
		s.Digest = "sha256:" + strings.TrimPrefix(image, "sha256:")
	}
	commits := map[string]string{}
	if m := tagged.FindStringSubmatch(c.Image); m != nil {
		commits = map[string]string{"tt_metal": m[2], "vllm": m[3], "tt_inference_server": m[1]}
	}
	for _, label := range decode.Parse([]byte(labels), 8).Members() {
		if labelled.MatchString(label.Key) {
			commits[label.Key[strings.LastIndexByte(label.Key, '.')+1:]] = label.Val.Str()
		}
	}
	if len(commits) > 0 {
		s.Commits = commits
	}
}

// tagged matches tags of tt-inference-server's images: version, tt-metal's commit, vLLM's commit; labelled the names of
// labels with a commit.
var (
	tagged   = lazyregexp.New(`:(\d+\.\d+\.\d+)-([0-9a-f]{7,40})-([0-9a-f]{7,40})(?:@|$)`)
	labelled = lazyregexp.New(`(revision|commit|sha)$`)
)

// Stop stops and removes the container. It is not run with --rm, because its log is read after it has died.
func (c *Container) Stop() {
	if c.child == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	asked, done := context.WithCancel(ctx)
	defer context.AfterFunc(c.hurry, done)()
	_, _ = c.ask(asked, "stop", "-t", "30", c.name) // it may have ended by itself
	done()
	c.Command.Stop()
	_, _ = c.ask(ctx, "rm", "-f", c.name)
}

// Detach starts the container and leaves it running once it is ready.
func (c *Container) Detach(ctx context.Context, dir string) (Detached, error) {
	c.detached = true
	if err := startDetached(ctx, c, dir); err != nil {
		return Detached{}, err
	}
	c.child = nil
	engine := shellescape.QuoteCommand([]string{c.Engine})
	return Detached{Name: "container " + c.name, URL: c.URL, Log: engine + " logs -f " + c.name,
		Stop: engine + " rm -f " + c.name}, nil
}

// container returns the container of a request, with the arguments that its device needs.
func (r Request) container(at Attached) (*Container, error) {
	o := r.Options
	if o.Image == "" {
		return nil, plan.Usage("--image registry.example/name@sha256:…, or ttreport models import, which knows "+
			"tt-inference-server's", "collect: --server docker needs --image")
	}
	engine := cmp.Or(o.ContainerEngine, InstalledEngine())
	if engine == "" {
		return nil, plan.Usage("install docker or podman, or attach to a server with --server URL",
			"collect: neither docker nor podman is installed")
	}
	u, err := url.Parse(at.URL)
	if err != nil {
		return nil, fmt.Errorf("server address: %w", err)
	}
	tag := make([]byte, 4)
	_, _ = rand.Read(tag) // never fails
	c := &Container{Engine: engine, Image: o.Image, Args: o.Args, name: fmt.Sprintf("ttreport-%x", tag)}
	inside := u.Port()
	if o.ContainerPort > 0 {
		inside = strconv.Itoa(o.ContainerPort)
	}
	run := []string{engine, "run", "--name", c.name, "-p", u.Host + ":" + inside}
	env, ours := o.EnvFile, IsTenstorrent(r.System.Device)
	if ours {
		run = append(run, r.tenstorrentArgs()...)
		if len(c.Args) == 0 {
			c.Args = r.tenstorrentImageArgs()
		}
		if _, err := os.Stat(filepath.Join(r.Dir, ".env")); env == "" && err == nil {
			env = filepath.Join(r.Dir, ".env")
		}
	}
	c.Args = withFlags(c.Args, o.EngineArgs)
	if env != "" {
		run = append(run, "--env-file", env)
	}
	if ours {
		for _, name := range []string{"HF_TOKEN", "JWT_SECRET"} { // by name: the engine takes the value from our environment
			if os.Getenv(name) != "" {
				run = append(run, "--env", name)
			}
		}
	}
	for _, v := range o.Volumes {
		run = append(run, "--volume", v)
	}
	c.Command = Command{Attached: at, Argv: slices.Concat(run, o.RunArgs, []string{o.Image}, c.Args),
		killed: []string{engine, "rm", "-f", c.name}}
	return c, nil
}

// InstalledEngine returns the container engine that is installed, docker before podman; "" for none.
func InstalledEngine() string {
	for _, name := range []string{"docker", "podman"} {
		if _, err := exec.LookPath(name); err == nil {
			return name
		}
	}
	return ""
}

// IsTenstorrent reports whether a device is one of Tenstorrent's, by tt-inference-server's names.
func IsTenstorrent(device string) bool {
	return tenstorrent.MatchString(device)
}

var tenstorrent = lazyregexp.New(`(?i)^(e150|n150|n300|t3k|galaxy|tg|p100|p150|p300|` +
	`blackhole_galaxy|dual_galaxy|quad_galaxy|super_cluster)`)

// tenstorrentArgs returns the arguments of "run" that Tenstorrent's devices need: shared memory, the device nodes,
// huge pages, and a volume for converted weights and compiled kernels, with the name and path of
// tt-inference-server's run.py unless a volume is mounted there already.
func (r Request) tenstorrentArgs() []string {
	argv := []string{"--ipc", "host"}
	ids := r.Options.DeviceIDs
	if ids == "" {
		argv = append(argv, "--device", "/dev/tenstorrent")
	}
	for _, id := range strings.FieldsFunc(ids, func(r rune) bool { return r == ',' }) {
		argv = append(argv, "--device", "/dev/tenstorrent/"+id)
	}
	argv = append(argv, "--mount", "type=bind,src=/dev/hugepages-1G,dst=/dev/hugepages-1G")
	to := ":" + plan.CacheRoot
	if slices.ContainsFunc(r.Options.Volumes, func(v string) bool { return strings.HasSuffix(v, to) }) {
		return argv
	}
	impl := cmp.Or(r.System.Impl, "tt-transformers")
	return append(argv, "--volume", "volume_id_"+strings.ReplaceAll(impl, "-", "_")+"-"+r.Plan.Model.Name+to)
}

// tenstorrentImageArgs returns the arguments of tt-inference-server's images, as its run_docker_server.py passes
// them.
func (r Request) tenstorrentImageArgs() []string {
	args := []string{"--model", r.System.Model, "--tt-device", strings.ToLower(r.System.Device)}
	if r.Options.NoAuth {
		args = append(args, "--no-auth")
	}
	if r.Plan.NoWarmup {
		args = append(args, "--disable-trace-capture")
	}
	if port := r.Options.Port; port != 0 && port != 8000 {
		args = append(args, "--service-port", strconv.Itoa(port))
	}
	return args
}
