"""What a session did, made into one episode: structured by rules, in better words with an AI."""
