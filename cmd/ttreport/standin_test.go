package main

import (
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect/server/sim"
)

// servedModels are the models of the tables.
const servedModels = "acme/tiny-8b acme/DeepSeek-R1-Distill-Llama-70B acme/tiny small acme/a acme/b"

// standin is the simulator as a server of somebody's: it serves every model of the tables, at once, and does not say
// that it is simulated. The server ends with the process.
func standin() (http.Handler, error) {
	cfg := sim.Defaults()
	cfg.StepBase, cfg.PerSequence, cfg.PerPrefill, cfg.ChunkTokens = time.Microsecond, 1, 1, 1<<20
	simulated, err := sim.Start(cfg)
	if err != nil {
		return nil, err
	}
	at, err := url.Parse(simulated.URL())
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/", httputil.NewSingleHostReverseProxy(at))
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		list := ""
		for _, name := range strings.Fields(servedModels) {
			list += fmt.Sprintf(`{"id":%q,"object":"model","owned_by":"vllm"},`, name)
		}
		fmt.Fprintf(w, `{"object":"list","data":[%s]}`, list[:len(list)-1])
	})
	return mux, nil
}

// runStandin serves at a port until the process is ended. Like a server that loads weights, it does not listen at once.
func runStandin(port string) int {
	time.Sleep(300 * time.Millisecond)
	handler, err := standin()
	if err == nil {
		err = http.ListenAndServe("127.0.0.1:"+port, handler)
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}
