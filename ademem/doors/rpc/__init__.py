"""JSON-RPC 2.0 for programs: `ademem rpc`, over standard input and output or a socket."""
