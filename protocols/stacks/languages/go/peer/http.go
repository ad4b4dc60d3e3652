package peer

import (
	"net"
	"net/http"
)

// ServeHTTP serves a handler on a free port of the loopback.
func ServeHTTP(listener net.Listener, handler http.Handler, settings Settings) (stop func()) {
	server := &http.Server{Handler: handler, IdleTimeout: milliseconds(settings.KeepAliveMs)}
	server.SetKeepAlivesEnabled(settings.KeepAliveMs > 0)
	go func() { _ = server.Serve(listener) }()
	return func() { _ = server.Close() }
}

// Listen returns a listener on a free port of the loopback, and the port.
func Listen() (net.Listener, int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, 0, err
	}
	return listener, listener.Addr().(*net.TCPAddr).Port, nil
}

// NewHTTPClient returns a client with a pool as the settings say.
func NewHTTPClient(settings Settings) *http.Client {
	return &http.Client{Transport: &http.Transport{
		MaxConnsPerHost:     settings.Connections,
		MaxIdleConnsPerHost: settings.Connections,
		IdleConnTimeout:     milliseconds(settings.KeepAliveMs),
		DisableKeepAlives:   settings.KeepAliveMs == 0,
		DisableCompression:  true,
	}}
}
