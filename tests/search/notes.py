"""What the team of a web shop has noted, and what people type around it."""

from __future__ import annotations

NOTES = (
    "Deploys run only from main, after CI is green; the deploy job tags the release itself.",
    "SQLite runs in WAL mode; the -wal and -shm files must sit on a local disk, never on NFS.",
    "Stripe retries webhooks for three days, so the billing endpoint must be idempotent.",
    "Prices are stored in integer cents; floats caused rounding errors on invoices.",
    "We chose PostgreSQL over MySQL because of partial indexes and transactional DDL.",
    "The login page is rate limited to five attempts a minute per IP address.",
    "Passwords are hashed with argon2id; the old bcrypt hashes are upgraded at login.",
    "Frontend components live in packages/ui and are documented with Storybook stories.",
    "Never edit generated GraphQL types by hand: run pnpm codegen after a schema change.",
    "Integration tests need Docker; without it they are skipped, not failed.",
    "The nightly backup is restored into staging every Sunday to prove that it works.",
    "Dates are kept in UTC and shown in the time zone of the customer's profile.",
    "Feature flags come from LaunchDarkly; remove a flag two weeks after full rollout.",
    "Emails are sent through Postmark; templates are versioned in the repository.",
    "The search index in Elasticsearch lags up to thirty seconds behind the database.",
    "Uploads above 10 MB go straight to S3 with a presigned URL.",
    "Redis is a cache only: everything in it may vanish at any moment.",
    "Migrations must be backward compatible for one release because of rolling restarts.",
    "The payments team owns the checkout service; ask in #payments before changing its API.",
    "Logs are JSON lines with a request id; grep for it in Loki.",
    "Kubernetes probes hit /healthz; it must not touch the database.",
    "Use structured errors with a code; the mobile app translates codes, never messages.",
    "The CSV export streams rows with a server side cursor, or the worker runs out of memory.",
    "Flaky test: checkout.spec times out when the fixture clock crosses midnight.",
    "Python services pin dependencies with uv lock; renovate opens the upgrade requests.",
    "The monorepo is built by Bazel; a missing BUILD target shows as an import error.",
    "Avatars are resized by a Lambda function that is deployed separately with Terraform.",
    "Sessions expire after twelve hours; the refresh token lives in an http-only cookie.",
    "German translations are reviewed by Anke before a release.",
    "OAuth callbacks must be registered for both the apex and the www domain.",
    "The inventory sync with the warehouse runs over SFTP at five in the morning.",
    "Celery tasks must carry a timeout; a hung task once blocked the whole queue.",
    "VAT rates per country are read from the tax service, never hard-coded.",
    "Black with line length 100 formats all Python; CI rejects anything else.",
    "The admin area is server rendered with htmx, not React.",
    "WebSocket connections are sticky; the load balancer needs session affinity.",
    "Coupons cannot be combined; the cart keeps the one that saves the customer most.",
    "Sentry samples ten percent of transactions in production.",
    "Product images are served as AVIF with a JPEG fallback for Safari 15.",
    "Accessibility: every form field needs a visible label, placeholders do not count.",
)

RELATED = (
    (
        "Let people attach videos to a ticket, the uploads can become several hundred MB large",
        "presigned URL",
    ),
    (
        "Can you look into why the release was not tagged when I deployed from my branch?",
        "only from main",
    ),
    (
        "I want to move the sqlite database onto the NFS share so both machines can read it",
        "never on NFS",
    ),
    (
        "The billing webhook from Stripe got delivered twice last night, please handle that",
        "retries webhooks",
    ),
    (
        "Add a discount column to invoices, it should hold the price after rounding as a float",
        "integer cents",
    ),
    (
        "Write a load test for the login page which tries a hundred attempts in one minute",
        "five attempts",
    ),
    (
        "Implement a password reset flow; new passwords are hashed the same way as elsewhere",
        "argon2id",
    ),
    (
        "Add a new date picker to the frontend and show me where its Storybook story goes",
        "packages/ui",
    ),
    (
        "The GraphQL types miss the field that I added to the schema, fix the generated file",
        "pnpm codegen",
    ),
    (
        "Why were the integration tests not executed on my laptop, is Docker not running?",
        "need Docker",
    ),
    (
        "How do we know that the backup can be restored if staging goes away one day?",
        "every Sunday",
    ),
    (
        "Customers in Tokyo complain that dates are off by one, check the time zone handling",
        "kept in UTC",
    ),
    (
        "Wrap the basket in a feature flag; when am I supposed to remove it after the rollout?",
        "LaunchDarkly",
    ),
    (
        "The order confirmation emails look broken in Outlook, where do I find their templates?",
        "Postmark",
    ),
    (
        "Change the API of the checkout service so that it accepts a gift card number",
        "payments team",
    ),
    (
        "Extend the kubernetes probes so that they fail when the database cannot be reached",
        "/healthz",
    ),
    (
        "The CSV export of all orders kills the worker, it looks as if it runs out of memory",
        "server side cursor",
    ),
    (
        "checkout.spec is flaky again, it timed out twice in the pipeline this week",
        "crosses midnight",
    ),
    (
        "Store the refresh token in local storage so that a session survives a browser restart",
        "http-only cookie",
    ),
    (
        "Our celery queue was blocked for an hour by one task, find out which one it was",
        "carry a timeout",
    ),
    ("Hard-code the Swiss VAT rate for now, we can do it properly after the launch", "VAT rates"),
)
"""Prompts, and words of the note that answers each."""

FAINT = (
    (
        "A new product is not in Elasticsearch results although it is in the database",
        "thirty seconds behind",
    ),
    (
        "Write the migrations that rename the customer column, to ship with the next release",
        "backward compatible",
    ),
)
"""Prompts with a note that has too few of their words: by words alone they are shown none."""

UNRELATED = (
    "What is the capital of Mongolia and how many people live there these days?",
    "Write me a short poem about a sleepy cat that dreams of the ocean",
    "Can you explain quantum entanglement as you would to a curious child?",
    "Which movies won the most awards in the nineties, and who directed them?",
    "Tell me a joke about penguins that my niece would find funny",
    "I would like a recipe for lentil soup with lemon and a little cumin",
    "How far is the moon from here and how long would a train take to reach it?",
    "Suggest a name for a golden retriever puppy, something short and friendly",
    "Summarise the plot of Moby Dick in two sentences without spoiling the ending",
    "What should I pack for a hiking weekend in the Scottish highlands in October?",
    "Who painted the ceiling of the Sistine chapel and how long did that take him?",
    "My neighbour plays the trumpet at night, how do I talk to him politely?",
    "Give me three stretching exercises for a stiff neck after sitting all day",
    "Is it better to learn Spanish or Portuguese first if I plan to travel in Brazil?",
    "Draft a birthday greeting for my grandmother, she turns ninety in spring",
    "Why do leaves turn red in autumn while the needles of pines stay green?",
    "Compare the philosophies of Seneca and Epicurus regarding wealth and pleasure",
    "How can I keep slugs away from my strawberries without any poison?",
    "Which chess opening would you recommend against an aggressive opponent?",
    "Explain the offside rule of football with an example from a famous match",
    "Translate good evening, how are you, into Icelandic and Finnish for me",
    "What makes sourdough bread rise although there is no yeast from a packet in it?",
)
"""Prompts that no note has anything to say about."""
