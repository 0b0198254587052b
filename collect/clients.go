package collect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ttreport/ttreport/collect/credentials"
	"github.com/ttreport/ttreport/collect/engine/slurm"
	"github.com/ttreport/ttreport/collect/meeting"
	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/rootfs"
)

// clientsOf returns by how many clients a load is made: no client is without a stream or a request.
func clientsOf(most int, l builtin.Load) int {
	if l.Ordered() { // what waits for an answer does so in one process
		return 1
	}
	n := min(max(1, most), l.Requests)
	if l.Concurrency > 0 {
		n = min(n, l.Concurrency)
	}
	return n
}

// runClients runs a load on several processes of this program: on this host, or in turn on the nodes of the Slurm job
// that this process is part of.
func runClients(ctx context.Context, l builtin.Load, n int) (builtin.Outcome, error) {
	self, err := os.Executable()
	if err != nil {
		return builtin.Outcome{}, fmt.Errorf("clients: %w", err)
	}
	nodes, err := slurm.Allocated(ctx, os.Getenv)
	if err != nil {
		return builtin.Outcome{}, fmt.Errorf("clients: the nodes of this job: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var clients []builtin.Client
	var ends []func()
	end := sync.OnceFunc(func() {
		for _, end := range ends {
			end()
		}
	})
	defer end()
	printed := make([]bytes.Buffer, n)
	for i := range n {
		at := ""
		if len(nodes.Nodes) > 0 {
			at = nodes.Nodes[i%len(nodes.Nodes)]
		}
		c, wait, err := startClient(ctx, nodes.Step(at, self, meeting.ClientCommand), &printed[i])
		if err != nil {
			return builtin.Outcome{}, fmt.Errorf("clients: %w", err)
		}
		ends = append(ends, wait)
		if at != nodes.Here {
			c.URL = reachedFrom(l.URL, nodes.Address)
		}
		clients = append(clients, c)
	}
	out, err := builtin.RunClients(ctx, l, clients)
	if err != nil && ctx.Err() == nil {
		cancel()
		end()                    // or it may still be printing
		for i := range printed { // the first that said anything
			if text := strings.TrimSpace(redact.Text(printed[i].String())); text != "" {
				return out, errors.Join(err, errors.New(text))
			}
		}
	}
	return out, err
}

// startClient starts a client, which ends when its input does; end waits for that.
func startClient(ctx context.Context, argv []string, printed *bytes.Buffer) (c builtin.Client, end func(), err error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay, cmd.Stderr = 2*time.Second, printed
	in, err := cmd.StdinPipe()
	if err != nil {
		return c, nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return c, nil, err
	}
	cmd.Cancel = in.Close // srun that is killed leaves its client to itself
	if err := cmd.Start(); err != nil {
		return c, nil, err
	}
	return builtin.Client{In: in, Out: out}, func() {
		_ = in.Close() // which ends it
		_ = cmd.Wait() // what it did was read
	}, nil
}

// reachedFrom returns the address of a server for another node: one on this node's loopback interface is reached under
// the node's address.
func reachedFrom(address, node string) string {
	u, err := url.Parse(address)
	if err != nil || node == "" {
		return address
	}
	if ip := net.ParseIP(u.Hostname()); u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return address
	}
	u.Host = strings.TrimSuffix(net.JoinHostPort(node, u.Port()), ":") // no port, no colon
	return u.String()
}

// Times that clients in other pods are waited for: an image may have to be pulled.
const (
	comesWithin = 10 * time.Minute
	toldWithin  = 10 * time.Second
)

// away is the clients of a load that are in other pods.
type away struct {
	place meeting.Place
	pods  int
	who   string
}

// awayOf returns the clients that the environment states; ok is false for none.
func awayOf(getenv func(string) string) (a away, ok bool, err error) {
	address := getenv(meeting.AddressVariable)
	if address == "" {
		return a, false, nil
	}
	if a.place, err = placeOf(address, getenv(meeting.WordVariable)); err == nil {
		a.pods, err = strconv.Atoi(getenv(meeting.CountVariable))
	}
	a.who = getenv(meeting.WhoVariable)
	if err != nil {
		err = fmt.Errorf("clients: %w", err)
	}
	return a, true, err
}

func placeOf(address, file string) (meeting.Place, error) {
	word, err := rootfs.ReadFile(file, 4<<10)
	return meeting.Place{Address: address, Word: strings.TrimSpace(string(word))}, err
}

// run runs a load on n clients: one here, the others in their pods, which reach a server on the loopback interface of
// this one under the address by which they came. They have keys of their own.
func (a away) run(ctx context.Context, l builtin.Load, n int) (builtin.Outcome, error) {
	if n-1 > a.pods {
		return builtin.Outcome{}, fmt.Errorf("clients: %d of them, and %d other pods", n, a.pods)
	}
	self, err := os.Executable()
	if err != nil {
		return builtin.Outcome{}, fmt.Errorf("clients: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var printed bytes.Buffer
	own, end, err := startClient(ctx, []string{self, meeting.ClientCommand}, &printed)
	if err != nil {
		return builtin.Outcome{}, fmt.Errorf("clients: %w", err)
	}
	defer end()
	guests, err := meeting.Wait(ctx, a.place, n-1, comesWithin)
	if errors.Is(err, meeting.ErrAlone) {
		err = fmt.Errorf("%w; kubectl get pods shows what the others wait for: is there a node for each?", err)
	}
	if err != nil {
		return builtin.Outcome{}, fmt.Errorf("clients: %w", err)
	}
	clients := []builtin.Client{own}
	for _, g := range guests {
		defer g.Close()
		stop := context.AfterFunc(ctx, func() { _ = g.Close() }) // else it would be read for ever
		defer stop()
		host, _, err := net.SplitHostPort(g.LocalAddr().String())
		if err != nil {
			return builtin.Outcome{}, fmt.Errorf("clients: %w", err)
		}
		clients = append(clients, builtin.Client{In: g, Out: g.Reader, URL: reachedFrom(l.URL, host), Own: true})
	}
	return builtin.RunClients(ctx, l, clients)
}

// ClientsOver tells the clients in other pods, if the environment states any, that this pod measures nothing more.
func ClientsOver(ctx context.Context) error {
	a, ok, err := awayOf(os.Getenv)
	if err != nil || !ok {
		return err
	}
	return meeting.Over(ctx, a.place, a.who, a.pods, toldWithin)
}

// ServeLoads is [meeting.ClientCommand]: without arguments it is a client of one load that in has. In a pod of its own
// it has the address of the pod that measures, the file with their word, and how many entries are measured one after
// the other.
func ServeLoads(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	if len(args) == 0 {
		return builtin.Serve(ctx, "", in, out)
	}
	if len(args) != 3 {
		return errors.New(meeting.ClientCommand + ": expected an address, a file and a number")
	}
	many, err := strconv.Atoi(args[2])
	if err != nil {
		return fmt.Errorf("%s: %w", meeting.ClientCommand, err)
	}
	at, err := placeOf(args[0], args[1])
	if err != nil {
		return fmt.Errorf("%s: %w", meeting.ClientCommand, err)
	}
	file, err := credentials.Open(".")
	if err != nil {
		return err
	}
	key, err := file.Key(false, nil)
	if err != nil {
		return err
	}
	return meeting.Join(ctx, at, many, func(in io.Reader, to io.Writer) error {
		err := builtin.Serve(ctx, key, in, to)
		if err != nil {
			fmt.Fprintln(out, err)
		}
		return err
	})
}
