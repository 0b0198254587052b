// Package preview serves a built site on the loopback interface, for looking at it in a browser while it is being
// made, and reports changes in the folders that it is made of, once writing has stopped.
//
// In flow the folder of a site, and folders and files to watch, of whose content it knows nothing; out flow HTTP on
// 127.0.0.1, and calls. It never listens anywhere else and never writes. Pages get a script that reloads them when they
// change; nothing of it is in the folder.
package preview

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

//go:embed live.js
var script []byte

// Server serves a folder and tells its pages what happened.
type Server struct {
	dir  string
	mu   sync.Mutex
	open map[chan news]bool
	last news // that a page which opens now must know
}

// news is one message to the pages.
type news struct {
	Changed []string `json:"changed,omitempty"` // addresses of files from the site's root
	Problem string   `json:"problem,omitempty"` // why the site is not what it should be
}

// New returns a server of a folder.
func New(dir string) *Server { return &Server{dir: dir, open: map[chan news]bool{}} }

// Built tells open pages which files a build changed: pages among them reload, and a problem that was shown is over.
func (s *Server) Built(changed []string) { s.tell(news{Changed: changed}, news{}) }

// Failed tells open pages that a build failed, and those that are opened while it has: what is shown is the last good
// site.
func (s *Server) Failed(why string) { s.tell(news{Problem: why}, news{Problem: why}) }

func (s *Server) tell(n, stays news) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = stays
	for c := range s.open {
		select {
		case c <- n:
		default: // a page that does not listen will ask again
		}
	}
}

// Serve serves until ctx ends. started is called with the address once it answers. port 0 takes a free one.
func (s *Server) Serve(ctx context.Context, port int, started func(url string)) error {
	ln, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return fmt.Errorf("preview: %w", err)
	}
	srv := &http.Server{Handler: s.handler(ln.Addr().(*net.TCPAddr).Port), ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = srv.Close() }) // Serve then returns
	defer stop()
	started("http://" + ln.Addr().String() + "/")
	if err := srv.Serve(ln); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("preview: %w", err)
	}
	return nil
}

// handler answers only what was asked of this machine by this machine's names: a page from elsewhere whose name was
// made to point here must not read somebody's results.
func (s *Server) handler(port int) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /_ttreport/live.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
		_, _ = w.Write(script) // a reader that left needs no answer
	})
	mux.HandleFunc("GET /_ttreport/events", s.events)
	mux.HandleFunc("GET /", s.file) // also HEAD
	known := map[string]bool{fmt.Sprintf("127.0.0.1:%d", port): true, fmt.Sprintf("localhost:%d", port): true}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !known[r.Host] {
			http.Error(w, "this preview answers to 127.0.0.1 and localhost alone", http.StatusMisdirectedRequest)
			return
		}
		w.Header().Set("X-Content-Type-Options", "nosniff")
		mux.ServeHTTP(w, r)
	})
}

// file serves what is in the folder, and nothing that a link in it leads out to.
func (s *Server) file(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	if strings.Contains(r.URL.Path, "/.") { // the record of a build, files that it has not put in place
		http.NotFound(w, r)
		return
	}
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		http.Error(w, "there is no site", http.StatusNotFound)
		return
	}
	defer root.Close()
	if !page(root, w, r) {
		http.FileServerFS(root.FS()).ServeHTTP(w, r)
	}
}

// page serves an HTML page with the script in it, or the page that says that there is none.
func page(root *os.Root, w http.ResponseWriter, r *http.Request) bool {
	name := strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/")
	switch {
	case strings.HasSuffix(r.URL.Path, "/"):
		name = path.Join(name, "index.html")
	case !strings.HasSuffix(name, ".html"):
		if _, err := root.Stat(cmp.Or(filepath.FromSlash(name), ".")); !errors.Is(err, os.ErrNotExist) {
			return false
		}
	}
	status := http.StatusOK
	html, err := root.ReadFile(filepath.FromSlash(name))
	if err != nil {
		status = http.StatusNotFound
		if html, err = root.ReadFile("404.html"); err != nil {
			return false
		}
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	// The page's own policy allows the one connection that the script needs.
	live := []byte("<script src=\"/_ttreport/live.js\"></script>\n</head>")
	_, _ = w.Write(bytes.Replace(html, []byte("</head>"), live, 1)) // a reader that left needs no answer
	return true
}

// events tells a page what happens until it leaves.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	flush, ok := w.(http.Flusher)
	if !ok {
		http.Error(w, "no stream", http.StatusInternalServerError)
		return
	}
	c := make(chan news, 16)
	s.mu.Lock()
	s.open[c] = true
	first := s.last
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.open, c)
		s.mu.Unlock()
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(n news) bool {
		data, err := json.Marshal(n)
		if err != nil {
			return false
		}
		_, err = fmt.Fprintf(w, "data: %s\n\n", data)
		flush.Flush()
		return err == nil
	}
	for ok := send(first); ok; {
		select {
		case <-r.Context().Done():
			return
		case n := <-c:
			ok = send(n)
		}
	}
}
