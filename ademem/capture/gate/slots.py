"""Well-known names by the place that they compete for."""

from __future__ import annotations

_SLOTS = """
package-manager: npm yarn pnpm bun
python-packages: pip pip-tools poetry uv pipenv conda
java-build: maven gradle
bundler: webpack vite rollup parcel esbuild turbopack browserify
linter: eslint biome tslint
python-linter: flake8 pylint ruff
python-formatter: black ruff yapf autopep8
test-runner: jest vitest mocha karma jasmine
python-tests: pytest unittest nose
java-tests: junit testng
browser-test: cypress playwright selenium puppeteer testcafe
ci: jenkins travis circleci buildkite teamcity drone github-actions gitlab-ci azure-pipelines
deployment: ansible argo-cd argocd flux spinnaker capistrano fastlane helm puppet chef
host: heroku fly.io vercel netlify render aws azure gcp hetzner digitalocean railway cloudflare
registry: docker-hub ghcr ecr quay harbor gcr
database: postgres postgresql mysql mariadb sqlite mongodb oracle cockroachdb dynamodb cassandra
database: duckdb clickhouse bigquery snowflake redshift
cache: redis memcached valkey keydb
queue: rabbitmq kafka nats sqs pulsar activemq redpanda
search: elasticsearch opensearch meilisearch solr typesense algolia
logs: cloudwatch loki splunk graylog papertrail datadog kibana
errors: sentry rollbar bugsnag airbrake honeybadger raygun crashlytics
pager: pagerduty opsgenie victorops
mail: sendgrid postmark mailgun mailchimp ses mailjet sparkpost postfix
sms: twilio vonage sinch messagebird
payment: stripe adyen paypal braintree mollie
analytics: google-analytics plausible matomo mixpanel amplitude posthog
flags: launchdarkly unleash flagsmith growthbook
tracker: jira linear asana trello redmine youtrack
wiki: confluence notion mediawiki gitbook
documentation: sphinx mkdocs docusaurus jekyll hugo
frontend: vue react svelte angular ember solid preact backbone
mobile: flutter ionic xamarin react-native swiftui
css: bootstrap tailwind bulma
orm: sequelize prisma typeorm knex drizzle
date-library: moment date-fns dayjs luxon
proxy: nginx caddy apache traefik haproxy kong envoy
secrets: vault .env sops doppler
protocol: rest grpc graphql soap
format: yaml json xml toml ini protobuf avro csv
monorepo: lerna turborepo nx bazel
branch: master main trunk develop
virtualization: docker podman vagrant
identity: auth0 okta keycloak cognito
chat: slack teams discord mattermost
"""
PLAIN_WORDS = frozenset(
    """
    rest render linear notion flux solid slack teams drone nose helm chef puppet ses drill
    """.split()
)
"""Names that are common words as well: they count with a capital alone."""
SLOTS: dict[str, frozenset[str]] = {}
"""The kinds of each name: a project mostly has one of a kind, and a language its own tools."""
for _line in _SLOTS.strip().splitlines():
    _kind, _, _members = _line.partition(": ")
    for _name in _members.split():
        SLOTS[_name] = SLOTS.get(_name, frozenset()) | {_kind}
