// The peer of measured stacks in Go. Start it with the path of the control channel's socket.
package main

import (
	"log"
	"os"

	a2a "gaia-mesh/stacks/a2a/go"
	"gaia-mesh/stacks/languages/go/peer"
	mcp "gaia-mesh/stacks/mcp/go"
)

func main() {
	stacks := map[string]peer.Stack{
		"a2a/jsonrpc": a2a.JSONRPC,
		"a2a/grpc":    a2a.GRPC,
		"mcp/http":    mcp.HTTP,
		"mcp/stdio":   mcp.Stdio,
	}
	if err := peer.Run(os.Args[1], stacks); err != nil {
		log.Fatal(err)
	}
}
