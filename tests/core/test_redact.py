"""Redaction: nothing private or secret is left, and nothing harmless is lost."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ademem.core import redaction
from ademem.core.redaction import TABLE, Redacted, match_hints, redact

# Keys are put together here, so that no scanner takes this file for a leak.
HEX = "0f1e2d3c4b5a6978" * 10
MIX = "a1B2c3D4e5F6g7H8" * 10
CAPS = "A1B2C3D4E5F6G7H8" * 10
UUID = "-".join((HEX[:8], HEX[:4], HEX[4:8], HEX[8:12], HEX[:12]))
PEM_LINES = f"{MIX[:64]}\n{MIX[:64]}\n{MIX[5:32]}=="
CANARY = "canary-7Qx"
SEED = "harbor velvet onion twelve mirror canyon puzzle lunar eager basket frozen walnut".split()


def pem(kind: str, body: str = PEM_LINES) -> str:
    return f"-----BEGIN {kind}-----\n{body}\n-----END {kind}-----"


def secret(name: str, before: str, value: str, after: str = "", *, id: str | None = None):
    return pytest.param(name, before, value, after, id=id or name)


SECRETS = [
    *(
        secret("aws-access-key", "id ", prefix + CAPS[:16], ".", id=prefix)
        for prefix in ("AKIA", "ASIA", "ABIA", "ACCA")
    ),
    secret("aws-secret-key", "aws_secret_access_key = ", MIX[:38] + "/+", id="aws-secret-key"),
    secret("aws-secret-key", '"SecretAccessKey": "', MIX[:40], '",', id="aws secret, json"),
    *(
        secret("github-token", "use ", prefix + "_" + MIX[:36], " here", id=prefix)
        for prefix in ("ghp", "gho", "ghu", "ghs", "ghr")
    ),
    secret("github-token", "", "github_pat_" + MIX[:22] + "_" + MIX[:59], id="github fine-grained"),
    *(
        secret("gitlab-token", "token: ", prefix + "-" + MIX[:20], id=prefix)
        for prefix in ("glpat", "gldt", "glrt", "glcbt", "glptt", "glft", "glsoat")
    ),
    secret("gitlab-token", "", "glpat-" + MIX[:27] + ".01." + HEX[:9], id="gitlab routable"),
    secret("slack-token", "", "xoxb-" + "123456789012-" * 2 + MIX[:24], id="slack bot"),
    secret("slack-token", "", "xoxp-" + "123456789012-" * 3 + HEX[:32], id="slack user"),
    secret("slack-token", "", "xapp-" + "1-A0123456789-" + HEX[:64], id="slack app"),
    secret(
        "slack-webhook",
        "curl https://hooks.slack.com/services/",
        "T0123456/B0123456/" + MIX[:24],
        " -d x",
    ),
    secret(
        "slack-webhook",
        "https://chat.acme.example/services/T0123456AB/B0123456AB/",
        MIX[:24],
        id="a webhook elsewhere",
    ),
    secret("deepl-key", "la clave es ", UUID + ":fx", ", dice"),
    secret("vk-token", "токен ", "vk1.a." + MIX[:64]),
    secret("twitch-key", "stream with ", "live_" + "86483823_" + MIX[:30]),
    secret("kubeadm-token", "kubeadm join h:6443 --token ", "rnxr4n.gw2h2hn3lcu1sg8b", " -v=5"),
    secret("newrelic-key", "license: ", HEX[:36] + "NRAL"),
    *(
        secret("cookie", f".acme.example\t{flag}\t/\t{flag}\t1746057600\tid\t", MIX[:31], id=flag)
        for flag in ("TRUE", "FALSE")
    ),
    secret(
        "discord-webhook",
        "https://discord.com/api/webhooks/",
        "123456789012345678/" + MIX[:68],
    ),
    *(
        secret("discord-token", "bot ", f"{start}k4{MIX[:20]}.GaBc1D.{MIX[:38]}", id=f"{start}k4")
        for start in ("MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT")
    ),
    secret("telegram-token", "bot ", "1234567890:" + "AA" + MIX[:33]),
    *(
        secret("stripe-key", "", prefix + "_" + MIX[:24], id=prefix)
        for prefix in ("sk_live", "rk_live", "sk_test", "rk_test")
    ),
    secret("stripe-webhook-secret", "", "whsec_" + MIX[:32]),
    secret("google-api-key", "?key=", "AIza" + MIX[:35], "&q=1"),
    secret("google-oauth", "", "GOCSPX-" + MIX[:28], id="google client secret"),
    secret("google-oauth", "", "ya29." + MIX[:60], id="google access token"),
    secret(
        "gcp-service-account",
        '{"private_key": "',
        pem("PRIVATE KEY").replace("\n", "\\n") + "\\n",
        '", "client_id": "1"}',
    ),
    secret("gcp-service-account", '"private_key_id": "', HEX[:40], '"', id="gcp key id"),
    secret("openai-key", "", "sk-" + MIX[:48], id="openai"),
    secret("openai-key", "", "sk-proj-" + MIX[:60] + "_" + MIX[:20], id="openai project"),
    secret("anthropic-key", "key ", "sk-ant-" + "api03-" + MIX[:90] + "-AA"),
    secret("huggingface-token", "", "hf_" + MIX[:34]),
    secret("groq-key", "", "gsk_" + MIX[:52]),
    secret("xai-key", "", "xai-" + MIX[:80]),
    secret("perplexity-key", "", "pplx-" + MIX[:48]),
    secret("replicate-token", "", "r8_" + MIX[:37]),
    secret("langsmith-key", "", "lsv2_" + "pt_" + HEX[:32] + "_" + HEX[:10]),
    secret("npm-token", "//registry/:_authToken=", "npm_" + MIX[:36]),
    secret("pypi-token", "", "pypi-" + "AgEIcHlwaS5vcmc" + MIX[:100]),
    secret("rubygems-key", "", "rubygems_" + HEX[:48]),
    secret("docker-token", "", "dckr_" + "pat_" + MIX[:27]),
    secret("sendgrid-key", "", "SG." + MIX[:22] + "." + MIX[:43]),
    secret("brevo-key", "", "xkeysib-" + HEX[:64] + "-" + MIX[:16]),
    secret("twilio-key", "key ", "SK" + HEX[:32], id="twilio key"),
    secret("mailgun-key", "api:", "key-" + HEX[:32]),
    secret("mailchimp-key", "", HEX[:32] + "-us14"),
    secret("azure-key", "AccountName=x;AccountKey=", MIX[:86] + "==", ";EndpointSuffix=y"),
    secret("azure-key", "SharedAccessKey=", MIX[:43] + "=", id="azure service bus"),
    secret("azure-sas", "https://x.blob/y?sv=1&sig=", MIX[:43] + "%3D", "&se=2"),
    secret("azure-client-secret", "", "a1B8Q~" + MIX[:34]),
    secret("digitalocean-token", "", "dop_v1_" + HEX[:64]),
    secret("heroku-key", "", "HRKU-" + UUID, id="heroku"),
    secret("heroku-key", "HEROKU_API_KEY=", UUID, id="heroku by name"),
    *(
        secret("shopify-token", "", prefix + "_" + HEX[:32], id=prefix)
        for prefix in ("shpat", "shpca", "shppa", "shpss")
    ),
    secret("square-token", "", "sq0atp-" + MIX[:22]),
    secret("databricks-token", "", "dapi" + HEX[:32]),
    secret("linear-key", "", "lin_" + "api_" + MIX[:40]),
    secret("notion-token", "", "ntn_" + "12345678901" + MIX[:35], id="notion"),
    secret("notion-token", "", "secret_" + MIX[:43], id="notion, old"),
    secret("figma-token", "", "figd_" + MIX[:40]),
    secret("airtable-token", "", "pat" + MIX[:14] + "." + HEX[:64]),
    secret("atlassian-token", "", "ATATT3" + MIX[:160] + "=" + CAPS[:8], id="atlassian user"),
    secret("atlassian-token", "", "ATCTT3" + MIX[:160] + "=" + CAPS[:8], id="atlassian admin"),
    secret("postman-key", "", "PMAK-" + HEX[:24] + "-" + HEX[:34]),
    secret("grafana-token", "", "glsa_" + MIX[:32] + "_" + HEX[:8], id="grafana service"),
    secret("grafana-token", "", "glc_" + MIX[:80] + "==", id="grafana cloud"),
    secret("newrelic-key", "", "NRAK-" + CAPS[:27]),
    secret("sentry-token", "", "sntrys_" + MIX[:120], id="sentry organisation"),
    secret("sentry-token", "", "sntryu_" + HEX[:64], id="sentry user"),
    secret("sentry-dsn", "https://", HEX[:32], "@o1.ingest.sentry.io/42"),
    secret("vault-token", "", "hvs." + MIX[:90], id="vault service"),
    secret("vault-token", "", "hvb." + MIX[:120], id="vault batch"),
    secret("vault-token", "", "hvr." + MIX[:90], id="vault recovery"),
    secret("terraform-token", "", MIX[:14] + ".atlasv1." + MIX[:67]),
    secret("pulumi-token", "", "pul-" + HEX[:40]),
    secret("doppler-token", "", "dp.pt." + MIX[:43], id="doppler personal"),
    secret("doppler-token", "", "dp.st.prd." + MIX[:43], id="doppler service"),
    secret("onepassword-token", "", "ops_" + "eyJ" + MIX[:150]),
    secret("tailscale-key", "", "tskey-" + "auth-" + MIX[:12] + "-" + MIX[:32]),
    secret("buildkite-token", "", "bkua_" + HEX[:40]),
    secret("planetscale-token", "", "pscale_" + "tkn_" + MIX[:43]),
    secret("supabase-key", "", "sbp_" + HEX[:40], id="supabase access"),
    secret("supabase-key", "", "sb_secret_" + MIX[:31], id="supabase secret"),
    secret("netlify-token", "", "nfp_" + MIX[:36]),
    secret("fly-token", "", "FlyV1 fm2_" + MIX[:120], id="fly"),
    *(
        secret("fly-token", "", prefix + "_" + MIX[:120], id=prefix)
        for prefix in ("fm1r", "fm2", "fo1")
    ),
    *(
        secret("cloudflare-token", "", prefix + "_" + MIX[:48], id=prefix)
        for prefix in ("cfk", "cfut", "cfat")
    ),
    *(
        secret("cloudflare-token", name + "=", MIX[:40], id=name)
        for name in ("CLOUDFLARE_API_TOKEN", "CF_API_KEY")
    ),
    secret("cloudflare-token", "", "v1.0-" + HEX[:24] + "-" + HEX[:146], id="cloudflare origin"),
    secret("jwt", "cookie ", "eyJ" + MIX[:33] + "." + "eyJ" + MIX[:60] + "." + MIX[:43], ";"),
    secret("private-key", "\n", pem("RSA PRIVATE KEY"), "\nafter", id="pem rsa"),
    secret("private-key", "\n", pem("OPENSSH PRIVATE KEY"), "\nafter", id="ssh"),
    secret("private-key", "\n", pem("PGP PRIVATE KEY BLOCK"), "\nafter", id="pgp"),
    secret("private-key", "", pem("EC PRIVATE KEY").replace("\n", "\\n"), "\\n", id="pem escaped"),
    secret(
        "private-key",
        "found\n",
        pem("PRIVATE KEY").partition("\n-----END")[0],
        "\n\nThat was the key we use.",
        id="pem unclosed, prose follows",
    ),
    secret(
        "private-key",
        "found\n",
        f"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n{MIX[:64]}\n{MIX[:20]}",
        id="pem unclosed, encrypted",
    ),
    secret(
        "putty-key",
        "PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 1\n",
        f"{MIX[:64]}\n{MIX[:20]}\n",
        f"Private-MAC: {HEX[:40]}",
    ),
    secret("age-secret-key", "", "AGE-SECRET-KEY-" + "1" + CAPS[:58]),
    secret("url-password", "postgres://app:", "p", "@db.local:5432/app", id="short url password"),
    secret("url-password", "app:", "Tiger!77", "@tcp(db:3306)/app", id="source of data in Go"),
    secret("url-password", "app:", "Tiger!77", "@unix(/run/db)/app", id="socket in Go"),
    secret("url-password", "redis://:", "s3cr@t#1", "@h:6379/0 ok", id="url password with signs"),
    secret("authorization", 'curl -H "Authorization: Bearer ', MIX[:40], '" x', id="bearer header"),
    secret("authorization", "authorization: Basic ", "dXNlcjpwYXNz", id="basic header"),
    secret("authorization", '"Authorization": "token ', HEX[:40], '"', id="json header"),
    secret("bearer-token", "sends Bearer ", MIX[:24], id="bearer in prose"),
    secret("basic-auth", '{"auth": "', "dXNlcjpwYXNzd29yZA==", '"}', id="docker config"),
    secret("basic-auth", "//r.x.io/:_auth=", "dXNlcjpwYXNzd29yZA==", id="npmrc"),
    secret("basic-auth", "curl -H 'X: Basic ", "dXNlcjpwYXNz", "'", id="basic in prose"),
    secret("curl-user", "curl -u admin:", "S3same!", " https://x"),
    secret("netrc", "machine api.x.io login me password ", "sesame"),
    secret("netrc", "machine api.x.io\n  login me\n  password ", "sesame", "\n", id="netrc lines"),
    secret("password", 'password = "', "hunter2", '"', id="password in code"),
    secret("password", "DB_PASSWORD=", "hunter2", "\n", id="password in env"),
    secret("password", "  password: ", "hunter2", "\n", id="password in yaml"),
    secret("password", "'db_pass' => '", "c0rrect-horse", "'", id="password in php"),
    secret("password", '{"password": "', "p@ss,word!x", '"}', id="password in json"),
    secret("password", '{\\"password\\": \\"', "hunter2", '\\"}', id="password in json in json"),
    secret("password", "<password>", "hunter2", "</password>", id="password in xml"),
    secret("password", 'password: str = "', "hunter2", '"', id="password with a type"),
    secret("password", 'config["password"] = "', "hunter2", '"', id="password by index"),
    secret("password", "mysql --password ", "hunter2", " -h db", id="password flag"),
    secret("password", "psql --db-password=", "hunter2", " x", id="password flag with ="),
    secret("password", "Server=x;Uid=sa;Pwd=", "S3same12", ";Database=y", id="connection string"),
    secret("password", "the password: ", "12345678", id="digits only"),
    secret("password", "passphrase='", "c0rrect-horse", "'", id="passphrase"),
    secret("password", "passcode: ", "481516", id="passcode"),
    secret("kubernetes-key", "client-key-data: ", MIX[:80] + "==", id="kubeconfig"),
    secret("private-key", "key: ", "LS0tLS1CRUdJTi" + "BQUklWQVRFI" + MIX[:80], id="pem in base64"),
    secret("jwk", '{"kty":"OKP","d":"', MIX[:43], '"}'),
    *(
        secret("bitcoin-key", "", start + MIX[: 49 if start < "6" else 50], id=f"bitcoin {start}")
        for start in "5H 5J 5K Kw Kx Ky Kz L1 L2 L3 L4 L5".split()
    ),
    secret("bitcoin-key", "", "xprv" + MIX[:107], id="bitcoin wallet"),
    secret("dynatrace-token", "", "dt0c01." + CAPS[:24] + "." + CAPS[:64]),
    *(secret("hubspot-token", "", f"pat-{place}1-{UUID}", id=place) for place in ("na", "eu")),
    *(secret("sonar-token", "", f"{kind}_{HEX[:40]}", id=kind) for kind in ("squ", "sqp", "sqa")),
    secret("sonar-token", "sonar.login=", HEX[:40], id="sonar login"),
    secret("cookie", "Cookie: theme=dark; sid=", MIX[:24], "\n", id="cookie header"),
    *(
        secret("cookie", f"curl -b '{name}=", MIX[:24], "'", id=name)
        for name in "JSESSIONID PHPSESSID ASP.NET_SessionId connect.sid laravel_session".split()
    ),
    secret("pgpass", "db:5432:shop:app:", "hunter2", "\n", id="pgpass"),
    secret("pgpass", "*:*:*:app:", "hunter2", "\n", id="pgpass for every database"),
    *(
        secret("secret", f"https://x.io/js{sign}key=", MIX[:39], "&v=3", id=f"{sign}key")
        for sign in ("?", "?a=1&")
    ),
    secret("secret", "define('DB_PASSWORD', '", "wpS3cure!", "');", id="php constant"),
    secret("password", '<add key="Password" value="', "sm7pMail", '"/>', id="xml attribute"),
    *(
        secret("password", before, "hunter2", after, id=before.partition(" -")[0])
        for before, after in (
            ("mysql -u root -p", " shop"),
            ("mariadb-dump -p", " shop"),
            ("sshpass -p ", " ssh a@b"),
            ("docker login -u a -p ", " r.io"),
            ("podman login -p ", " r.io"),
            ("redis-cli -h c -a ", " ping"),
            ("mongosh -u root -p ", " x"),
            ("ldapsearch -x -D cn=a -w ", " x"),
            ("smbclient //n/s -U bob%", " -c ls"),
            ("rpcclient -U bob%", " nas"),
            ("openssl rsa -passin pass:", " -in a"),
            ("htpasswd -b .htpasswd bob ", "\n"),
            ("ssh-keygen -N ", " -f k"),
            ("unzip -P ", " a.zip"),
            ("creds: admin:", ""),
            ("credentials for the demo are admin / ", " there"),
            ("login is admin/", "\n"),
            ("login: admin:", "\n"),
            ("az login -u a -p ", " -t b"),
            ("echo '", "' | sudo -S ls"),
        )
    ),
    secret("password", 'mysql -p"', "two words", '" shop', id="mysql, quoted"),
    secret("aws-secret-key", "aws secret access key is ", MIX[:40], id="aws secret, in words"),
    secret("aws-secret-key", "aws configure set aws_secret_access_key ", MIX[:40], id="aws cli"),
    secret("secret", "the signing secret is ", HEX[:32], ".", id="secret in words"),
    secret("secret", "api key for stripe: ", MIX[:32], id="key in words"),
    secret("password", "the staging password is ", "hunter2", ".", id="password in words"),
    secret("password", "log in with password ", "hunter2", " there", id="with password"),
    secret("password", "with password '", "correct horse battery", "'", id="phrase"),
    secret("password", "Passwort ist ", "Sommer2024!", id="german"),
    secret("password", "mot de passe : ", "Ete2024!", id="french"),
    secret("password", "la contraseña es ", "Verano#2025", id="spanish"),
    secret("password", "密码是", "abc12345", "，不要外传", id="chinese"),
    secret("secret", "API_KEY=", MIX[:24], id="api key in env"),
    secret("secret", "api_key: ", HEX[:32], id="api key in yaml"),
    secret("secret", "const apiKey = '", MIX[:20], "';", id="api key in code"),
    secret("secret", "The API key: ", MIX[:20], ", keep it", id="api key in prose"),
    secret("secret", "master key = ", MIX[:20], id="master key"),
    secret("secret", "X-Auth-Key: ", MIX[:20], id="header"),
    secret("secret", "credential: '", MIX[:20], "'", id="credential"),
    secret("secret", "API_KEY=", "AkhGUfpg" + "gblWognbHQDD", id="letters only"),
    secret("secret", "API_KEY=", "kwzrtEXqBnMLs7vYpQcD", id="one digit only"),
    secret("secret", "client_secret=", UUID, id="uuid as secret"),
    secret("secret", 'SECRET_KEY = "', "django-insecure-" + MIX[:20] + "#$%(", '"', id="django"),
    secret("secret", "deploy --token ", MIX[:20], " now", id="token flag"),
    secret("secret", "https://x/y?access_token=", MIX[:20], "&z=1", id="token in query"),
    *(
        secret(name, "", prefix + rest, id=f"{name} {prefix}")
        for name, prefixes, rest in (
            ("aws-session-token", "IQoJb3JpZ2lu FwoGZXIvYXdz", MIX[:120]),
            ("aws-bedrock-key", "ABSK", MIX[:80]),
            ("gitlab-token", "glagent- glimt- gloas- GR1348941", MIX[:20]),
            ("bitbucket-token", "ATBB", MIX[:32]),
            ("google-oauth", "1//0", MIX[:60]),
            ("google-hmac-key", "GOOG1E", CAPS[:55]),
            ("asana-token", "1/ 2/", "1204567890123456:" + HEX[:32]),
            ("trello-token", "ATTA", HEX[:72]),
            ("clickup-token", "pk_", "1234567_" + CAPS[:32]),
            ("contentful-token", "CFPAT-", MIX[:43]),
            ("shippo-token", "shippo_live_ shippo_test_", HEX[:40]),
            ("easypost-key", "EZAK EZTK", MIX[:54]),
            ("flutterwave-key", "FLWSECK", "_TEST-" + MIX[:32] + "-X"),
            ("square-token", "EAAA", MIX[:60]),
            ("facebook-token", "EAA", "B" + MIX[:100]),
            ("twitter-token", "A" * 21, MIX[:60]),
            ("dropbox-token", "sl.", MIX[:130]),
            ("alibaba-key", "LTAI", MIX[:20]),
            ("tencent-key", "AKID", MIX[:32]),
            ("yandex-key", "AQVN", MIX[:36]),
            ("newrelic-key", "NRII- NRJS- NRRA-", MIX[:32]),
            ("resend-key", "re_", MIX[:8] + "_" + MIX[:24]),
            ("mailersend-token", "mlsn.", HEX[:64]),
            ("elevenlabs-key", "sk_", HEX[:48]),
            ("nvidia-key", "nvapi-", MIX[:64]),
            ("langfuse-key", "sk-lf-", UUID),
            ("firecrawl-key", "fc-", HEX[:32]),
            ("tavily-key", "tvly-", MIX[:32]),
            ("circleci-token", "CCIPAT_ CCIPRJ_", MIX[:22] + "_" + HEX[:40]),
            ("artifactory-key", "AKCp cmVmdGtuOj", MIX[:70]),
            ("nuget-key", "oy2", HEX[:43]),
            ("crates-token", "cio", MIX[:32]),
            ("openshift-token", "sha256~", MIX[:43]),
            ("mapbox-token", "sk.eyJ", MIX[:40] + "." + MIX[:22]),
            ("launchdarkly-key", "sdk- api- mob-", UUID),
            ("mongodb-atlas-key", "mdb_sa_sk_", MIX[:40]),
            ("docker-config", "eyJhdXRocyI6", MIX[:120] + "=="),
            (
                "private-key",
                "MIIEpAIBAAKC MIGHAgEAMBMG MIHcAgEBBEIA MHcCAQEEI MC4CAQAwBQYD",
                MIX[:64],
            ),
            (
                "private-key",
                "b3BlbnNzaC1rZXktdjEAAAAA",
                MIX[:64] + "\n" + MIX[:64] + "\n" + MIX[:20],
            ),
            ("secret", "acme_live_", MIX[:40]),
        )
        for prefix in prefixes.split()
    ),
    secret("azure-devops-token", "", MIX[:76] + "AZDO" + MIX[:4]),
    *(
        secret("curl-user", f"{program} -a dana:", "OvenMitt33", " https://x", id=program)
        for program in ("http", "https")
    ),
    secret("kubernetes-secret", "kind: Secret\ndata:\n", "  user: YWRtaW4=\n  pw: b3ZlbiBtaXR0\n"),
    secret("url-password", "jdbc:oracle:thin:scott/", "tiger77x", "@db:1521:orcl", id="oracle"),
    *(
        secret("url-password", f"{program} scott/", "tiger77x", "@//db:1521/orcl", id=program)
        for program in ("sqlplus", "sqlldr", "expdp", "impdp")
    ),
    secret("password", "new PDO($dsn, 'shop', '", "Tiger!77", "')", id="pdo"),
    secret("password", 'getConnection(url, "shop", "', "Tiger!77", '")', id="connection"),
    *(
        secret("password", f"Server=db;User=shop{sign}", "Tiger!77", ";Database=shop", id=sign)
        for sign in (";Password=", ";Pwd=")
    ),
    secret(
        "secret",
        "vault_unseal:\n  keys:\n    - ",
        f"{MIX[:43]}=\n    - {MIX[1:44]}=",
        "\n  threshold: 2",
        id="keys to unseal a vault",
    ),
    *(
        secret(
            "secret",
            "to keep:\n",
            "\n".join(
                f"{at}. {word}" for at, word in enumerate(["otter", "maple", "kettle"] * 4, 1)
            ),
            f"\n({kept})",
            id=f"numbered words above {kept}",
        )
        for kept in ("seed of the wallet", "wallet of the till, the whole seed")
    ),
    *(
        secret("password", f"{key}password{quote}, {value}", "blue_Kettle_31", quote, id=key)
        for key, quote, value in (
            ('{"key": "', '"', '"value": "'),
            ('{"key":"', '"', '"value":"'),
            ('{key: "', '"', 'value: "'),
        )
    ),
    secret("password", "senha:\n kennwort:\n ", "Otter_47x", id="yaml, below two names"),
    secret("secret", 'cookie_secret = """\n', MIX[:43] + "=", '"""', id="toml, a line below"),
    secret("password", "kubectl create … --from-literal=pass=", "oven-mitt7", id="in an option"),
    secret("password", "kod do domofonu: ", "2709K", ", od podwórza", id="code with a letter"),
    secret("secret", "disk: ", "-".join(["270416"] * 8), " (bitlocker)", id="bitlocker"),
    secret("password", "ConvertTo-SecureString '", "oven-mitt", "' -AsPlainText", id="powershell"),
    secret("password", 'new mysqli($host, "shop", "', "Tiger!77", '", "shop")', id="mysqli"),
    secret("password", "sshpass -p '", "oven-mitt", "' ssh pi@10.0.0.7", id="sshpass"),
    secret(
        "secret", "un jeton pour l'api météo, ", MIX[:24], " , merci", id="by chance, of an api"
    ),
    secret(
        "aws-access-key", "AWS_ACCESS_KEY_ID=", "ASIA" + "QRSTUVWX" * 2, "\n", id="letters alone"
    ),
    secret("secret", "https://x/data?id=4&appid=", HEX[:32], "&units=metric", id="weather"),
    secret("secret", '{"auths": {"r.io": {"auth": "', MIX[:34] + "==", '"}}}', id="registry"),
    *(
        secret("secret", f"define('{name}', '", MIX[:30] + "){~" + MIX[:30], "');", id=name)
        for name in ("AUTH_KEY", "LOGGED_IN_SALT")
    ),
    *(
        secret("password", before, value, after, id=before.strip())
        for before, value, after in (
            ("https://meet.io/j/84?pwd=", "ovenmitt33Q", "\n"),
            ("https://meet.io/j?id=84&pwd=", "ovenmitt33Q", "#top"),
            ("https://x.io/in?passcode=", "883321", ""),
            ("https://x.io/in?u=a&password=", "ovenmitt33", "&x=1"),
            ("cryptsetup luksAddKey /dev/sdb2 <<< '", "nine old ladders", "'"),
            ("gpg --batch --passphrase-fd 0 -d a.gpg <<< ", "ovenmitt", ""),
            ("echo ", "ovenmitt", " | cryptsetup open /dev/sdb2 data"),
            ("printf '", "oven mitt", "' | kinit dana@ACME.EXAMPLE"),
            ("ldap_bind($c, 'cn=reader,dc=acme', '", "Oven-Mitt", "');"),
            ('Connection(server, "uid=dana,ou=people", "', "Oven-Mitt", '")'),
            ('smtp.login("dana@acme.example", "', "Oven-Mitt", '")'),
            ('simple_bind_s("cn=admin,dc=acme", "', "Oven-Mitt", '")'),
            ('client.bind("acme\\\\dana", "', "Oven-Mitt", '", done)'),
            ('ser.write(b"LOGIN ', "ovenmitt7", '\\r\\n")'),
            ("sock.send('a1 LOGIN dana ", "ovenmitt7", "\\r\\n')"),
            ("radius-server host 10.1.1.9 key 0 ", "OvenMitt", ""),
            ("tacacs-server key ", "OvenMitt", "\n"),
        )
    ),
    secret("secret", "https://cal.io/ical/a/private-", HEX[:32], "/basic.ics"),
    *(
        secret("secret", before, value, '"', id=before.strip())
        for before, value in (
            ('wget --header="X-Auth-Token: ', "arBfZOs_JlUyvuBnXtcj"),
            ('curl -H "PRIVATE-TOKEN: ', "arBfZOs_JlUyvuBnXtcj"),
        )
    ),
    secret("secret", "curl -H 'Api-Key: ", "arBfZOs_JlUyvuBnXtcj", "' https://x"),
    secret("authorization", 'format!("Basic {}", "', MIX[:24] + "==", '")'),
    secret("authorization", 'headers["X"] = "Bearer " + "', MIX[:24], '"'),
    *(
        secret("secret", before, value, after, id=before.strip())
        for before, value, after in (
            ('new ethers.Wallet("', "0x" + HEX[:64], '", provider);'),
            ('AES.new(bytes.fromhex("', HEX[:64], '"), AES.MODE_GCM)'),
            ('createCipheriv("aes-256-gcm", "', HEX[:64], '", iv)'),
            ('hmac.new(b"', MIX[:28], '", body, sha256)'),
            ('createHmac("sha256", "', HEX[:32], '")'),
            ('Fernet("', MIX[:43] + "=", '")'),
            ('new SecretKeySpec("', HEX[:32], '".getBytes())'),
            ('SecretBox("', HEX[:64], '")'),
            ('PrivateKey.from_hex("', HEX[:64], '")'),
            ("our copy of the program: ", "MDF6S-4GNA5-9498R-NRP89-83Y81", " – for one"),
        )
    ),
    secret("wifi", "WIFI:T:WPA;S:guests;P:", "ovenmitt", ";;"),
    secret("signature", "https://x/y?X-Amz-Signature=", HEX[:64]),
    secret("secret", "Datadog: app ", HEX[:40], " and api", id="key of an app"),
    secret("secret", "sid 12, auth ", HEX[:32], " from +15550100", id="auth"),
    *(
        secret("password", before, value, after, id=before.strip())
        for before, value, after in (
            ("get(u, auth=('dana', '", "OvenMitt33", "'))"),
            ('new NetworkCredential("a@b.io", "', "Oven#474", '");'),
            ("Credentials('a', '", "OvenMitt", "')"),
            ("BasicAuth('a', '", "OvenMitt", "')"),
            ("basic_auth('a', '", "OvenMitt", "')"),
            ('"basic_auth": ["elastic", "', "OvenMitt", '"]'),
            ("<secret>", "OvenMitt", "</secret>"),
            ("<token>", "OvenMitt", "</token>"),
            ("snmp-server community ", "barn69yard", " RO"),
            ("enable secret 0 ", "Oven-mitt", "\n"),
            ("enable password ", "Oven-mitt", "\n"),
            ("username bob secret ", "Oven-mitt", "\n"),
            ("jwt.signing.secret=", "oven mitt oven mitt 1", "\n"),
            ("MARIADB_PASSWORD: ", "soprano-choir", "\n"),
            ("  WIFI_PSK=", "pear-pear-quince", "\n"),
            ("SMTP_PWD=", "pear-pear-quince", "\n"),
            ("GPG_PASSPHRASE=", "pear-pear-quince", "\n"),
            ('#define WIFI_PASS "', "hayloft_owls_22", '"'),
            ("setx DB_TOKEN ", "OvenMitt33", "\n"),
            ('variable "db_password" {\n  default = "', MIX[:20], '"\n}'),
            ("- name: DB_TOKEN\n  value: ", "OvenMitt33", "\n"),
            ('{"name": "DB_TOKEN", "value": "', "OvenMitt33", '"}'),
            ("export signingPassword=", "kelp&forest&04", "\n"),
            ("DB_PASS=", "kelp&forest&04", "\n"),
            ('c.setPassword("', "oven-mitt-3", '")'),
            ("7z a -p", "OvenMitt", " a.7z b"),
            ("rar a -hp", "OvenMitt", " a.rar b"),
            ("mosquitto_pub -u a -P ", "OvenMitt", " -t x"),
            ("ipmitool -U a -P ", "OvenMitt", " power"),
            ("sqlcmd -U sa -P ", "OvenMitt", " -Q x"),
            ("bcp t in f -P ", "OvenMitt", " -c"),
            ("clickhouse-client --password ", "OvenMitt", " -q x"),
            ("gpg --batch --passphrase ", "OvenMitt", " -d f"),
            ("svn co --password ", "OvenMitt", " u"),
            ("keytool -list -storepass ", "OvenMitt", " -v"),
            ("jarsigner -storepass ", "OvenMitt", " a.jar"),
            ("xfreerdp /u:a /p:", "OvenMitt", " /v:h"),
            ("cmdkey /add:h /user:a /pass:", "OvenMitt", "\n"),
            ("lftp -u bob,", "OvenMitt", " sftp://h"),
            ("wpa_passphrase guests ", "OvenMitt", " > f"),
            ("vault login ", "OvenMitt", "\n"),
            ("net use Z: \\\\h\\s /user:D\\bob ", "OvenMitt", " /persistent:no"),
            ("net user bob ", "OvenMitt", " /add"),
            ("gh secret set X --body ", "OvenMitt", "\n"),
            ("create secret generic x --from-literal=keys=", "Rye&Bread07", " -n shop"),
            ('variable "db_pw" {\n default = "', "Rye-Bread-7", '"\n}'),
            ("aws ssm put-parameter --name x --value ", "OvenMitt", " --type y"),
            ("az keyvault secret set --name x --value ", "OvenMitt", "\n"),
            ("echo 'bob:", "OvenMitt", "' | chpasswd"),
            ("echo ", "OvenMitt", " | docker login r.io -u ci --password-stdin"),
            ("echo -n '", "OvenMitt", "' | docker secret create x -"),
            ("echo '", "OvenMitt", "' | wrangler secret set X"),
            ("vault kv put s/x user=oven pass=", "Rye-Bread-7 host=db", "\n"),
            ("vault write s/x pass=", "Rye-Bread-7", "\n"),
            ("fly secrets set X=", "Rye-Bread-7", "\n"),
            ("heroku config:set X=", "Rye-Bread-7", "\n"),
            ("doppler secrets:set X=", "Rye-Bread-7", "\n"),
            ("create user x identified by '", "OvenMitt", "';"),
            ("bind_pw: ", "d6vGo6Nx$", "\n"),
            ("wifi.psk = '", "oven!mitt!pie", "'"),
            *(
                (f"app.{name}=", "Krowa_77x", "\n")
                for name in "parol kennwort mdp senha wachtwoord haslo hasło пароль 密碼 口令"
                " パスワード 비밀번호".split()
            ),
            ("api_password:\n  ", "Mangrove-4-Tapir", "\nregion: eu"),
            ("password: >-\n    ", MIX[:26], "\n  size: 8"),
            ("pass === '", "curtain!call!5", "'"),
            ('static final String SALT_PW = "', "Kettle+Drum_6", '";'),
            ("clave-secreta: ", HEX[:40], "\n"),
            ("openssl enc -aes-256-cbc -in a -k ", "ovenMitt", "\n"),
            ("restic --password-command '", "echo OvenMitt", "' backup"),
            ("borg --passphrase-command '", "echo OvenMitt", "' list"),
            ("zip -r -P ", "OvenMitt", " a.zip a/"),
            ("ssh-keygen -p -f k -P ", "OvenMitt", " -N ''"),
            ("az login --service-principal -u ops -p ", "OvenMitt", " --tenant x"),
            *(
                (f"{call}('a.example', 'drop', '", "Mitt&Keser3", "')")
                for call in "ftplib.FTP smtp.dial imap.open ldap.open ssh.dial".split()
            ),
            ('DBI->connect("dbi:mysql:shop", "shop", "', "uj28pqyl", '")'),
            ('ftp.login("kasse", "', "Giraflore;31", '")'),
            ("Server=s;User Id=a;Password=", "Tq8;v0Lx!zWd", ";Encrypt=true"),
            ('curl_setopt($c, CURLOPT_USERPWD, "api:', "Mitt-and-key3", '");'),
            ("host=pg user=feed password=", "lambDa_Crab", " dbname=feed"),
            ("rocommunity ", "magpie-nest", " 10.20.0.0/16"),
            ("EMAIL_PASS=", "qtkj bxhk uxlk kttq", "\n"),
            ('name  = "ghostPassword"\nvalue = "', "njA3r=Fo~Ff", '"'),
            ("ldap_bind_pw: ", "Sorrel(857)Gate", "\n"),
            ("FTP_PASS=", "pluie-d'ardoise", "\n"),
            ("BACKUP_PASSWORD=", "pluie-d'ardoise", "\n"),
            ("ldap.bind.credentials=", "Pjf;SKkFYes", "\n"),
        )
    ),
    *(secret("pin", f'"{name}":"', "804417", '"', id=name) for name in ("pin", "puk")),
    *(
        secret("secret", before, value, after, id=before)
        for before, value, after in (
            *(
                (f"get({quote}{name}{quote}, {quote}", MIX[:24], f"{quote})")
                for name in ("token", "secret", "key")
                for quote in "\"'"
            ),
            ("page.fill('#password', '", "Oven-185", "')"),
            ('f("password", "', "Oven-185", '")'),
            ('"auth": "', MIX[:44], '"'),
            ("bank.WithToken('", MIX[:44], "')"),
            ("API_KEY: &'static str = '", MIX[:20], "';"),
            ("docker run -e APP_KEY=", "base64:" + MIX[:43] + "=", " img"),
            ("APP_SECRET=", "kelp&forest&04", "\n"),
            ("APP_TOKEN=", "kelp&forest&04", "\n"),
            ("mnemonic: '", " ".join(SEED * 2), "'"),
            ("rtmp://live.acme.example/app/", MIX[:30], "\n"),
            ("rtmps://live.acme.example/app/", MIX[:30], "\n"),
            ("npm config set //npm.acme.example/:_auth=", MIX[:24] + "==", "\n"),
            ('Account.from_key("', "0x" + HEX[:64], '")'),
            ('crypto.fromKey("', HEX[:64], '")'),
            ('hmac.new(b"', "Kx2!vTq0z_LmW8", '", body)'),
            ('createHmac("sha256", "', "Kx2!vTq0z_LmW8", '")'),
            ('SecretKeySpec(decode("', MIX[:22] + "==", '", 0))'),
            ('Fernet(b"', MIX[:43] + "=", '")'),
            *((f'{name}("', "3ZENVFYOBCZJSLXM", '")') for name in ("totp", "2fa", "mfa")),
            ('jwt.encode({"sub": 1}, "', "lui_AXRaeH63v7Oz", '", alg)'),
            ('os.environ["PAT"] = "', "fzoqvcujjssd7dzfivbna62velf4iy43h", '"'),
            ('process.env["PAT"] = "', "fzoqvcujjssd7dzfivbna62velf4iy43h", '"'),
            ("export HUE_USER=", "tp3e_zE2wAy0xbZe9EPlQm3-hLgCPqeK7", "\n"),
            ("aes_key[16] = { ", ", ".join(f"0x{HEX[at : at + 2]}" for at in range(16)), " };"),
            ("Unseal Key 2: ", MIX[:43] + "=", ""),
            ("the API key ends up as ", MIX[:24], " in staging"),
            ("Klucz do API brzmi ", MIX[:28], "."),
            ("la chiave api del meteo, eccola: ", HEX[:32], ", limite 1000"),
            ("we ship ", MIX[:24], " as the deploy token"),
            ("my recovery codes: ", "h7kq-9mzt, p2wd-xx4c, r8vn-3gja", ". one is used"),
            ("Seed phrase:\n", " ".join(SEED), "\n"),
            ("my wallet words for now: ", " ".join(SEED), " - move them"),
            ("Twelve words of the ledger: ", " ".join(SEED), ". There is little in it"),
            ("wallet, write it down\n1. ", "\n2. ".join(SEED), "\n"),
            ('{"mnemonic": ["', '", "'.join(SEED), '"]}'),
            (
                "recovery codes of the registrar\n",
                "2be9f-ef9bf\n85989-5607d\n29968-0abc1",
                "\nthe first is used",
            ),
            ("Backup-Codes\n- ", "FIYV8F2A\n- BM02VWY6\n- QN25TO3A", ""),
        )
    ),
    *(
        secret("password", before, value, after, id=before)
        for before, value, after in (
            ("everybody uses ", "Basalt.Otter.41", " as the vpn password"),
            ("log in as root with ", "tulpenzwiebel8", " there"),
            ("log in as ops / ", "greyheron44", " on the jump host"),
            ("I reset the staging admin to ", "Mondaymonday2!", " because of it"),
            ("Door code at the barn is ", "7719", " then the bell"),
            ("il codice del cancello è ", "9054#", ", piano"),
            ("PUK of the modem: ", "88120045", ""),
            ("Herstelcode van het account is ", "HM7C-2VQP-81ZD", ""),
            ("luks passphrase on the laptop = ", "seven damp violins under glass", ". And"),
            ("mot de passe du compte c'est ", "Citrouille&Carrosse7", ", changé"),
            ("hasło ", "zubr-na-rowerze", " na koncie"),
            ("пароль от вайфая ", "Sobaka_77", ""),
            ("暗証番号", "5093", "に変更"),
            ("パスフレーズは「", "あおいとりさんがつのゆき", "」、"),
            ("压缩包口令“", "稻田里的风筝", "”，"),
            ("google app password: ", "abcd efgh ijkl mnop", ""),
            ("root / ", "u3aqDkzMYoUTj4", "\n"),
        )
    ),
]


@pytest.mark.parametrize(("name", "before", "value", "after"), SECRETS)
def test_a_secret_is_replaced_by_its_name_and_the_rest_stays(name, before, value, after):
    redacted = redact(before + value + after)

    assert redacted.text == f"{before}[redacted:{name}]{after}"
    assert redacted.found == (name,)


PAIRS = [
    *(
        ("aws-access-key", start + CAPS[:16], "aws-secret-key", MIX[:40])
        for start in ("AKIA", "ASIA")
    ),
    *(("twilio-key", start + HEX[:32], "twilio-key", HEX[1:33]) for start in ("AC", "SK")),
    *(("", start + MIX[:14], "razorpay-key", MIX[:24]) for start in ("rzp_live_", "rzp_test_")),
]


@pytest.mark.parametrize(("id_name", "id", "name", "value"), PAIRS)
def test_the_second_half_of_a_pair_is_known_by_the_first(id_name, id, name, value):
    left = redact(f"the new pair: {id} / {value} (eu)").text

    assert left.endswith(f" / [redacted:{name}] (eu)")


def test_the_second_half_of_a_pair_may_stand_on_the_next_line():
    left = redact(f"AKIA{CAPS[:16]}\n{MIX[:40]}\nregion eu").text

    assert left.endswith("\n[redacted:aws-secret-key]\nregion eu")


@pytest.mark.parametrize("neighbour", ["\\n", "\\t", "%3D", "(", "日本"])
def test_a_key_is_found_behind_escaped_and_foreign_neighbours(neighbour):
    for name, before, value, after in (case.values for case in SECRETS):
        if before == "":
            redacted = redact(neighbour + value + after)
            assert redacted.text == f"{neighbour}[redacted:{name}]{after}"


def test_every_hint_of_the_table_is_shown_by_an_example():
    for name, hints, _ in TABLE:
        examples = ["".join(case.values[1:]) for case in SECRETS if case.values[0] == name]
        examples += [f"{id} / {value}" for _, id, half, value in PAIRS if half == name]
        for hint in hints:
            shown = [hint in (text.lower() if hint.islower() else text) for text in examples]
            assert any(shown), (name, hint)


def in_json(key: str) -> str:
    return "".join(f"\\u{ord(char):04x}" for char in key)


def in_url(key: str) -> str:
    return "".join(f"%{ord(char):02X}" for char in key)


@pytest.mark.parametrize("escape", [in_json, in_url])
@pytest.mark.parametrize("share", [1, 2, 7])
def test_a_key_is_known_in_escapes(escape, share):
    key = "ghp_" + MIX[:36]
    written = "".join(escape(char) if at % share == 0 else char for at, char in enumerate(key))

    assert redact(f'"token": "{written}", x').text == '"token": "[redacted:github-token]", x'


def test_an_escaped_stroke_does_not_split_a_key():
    key = MIX[:20] + r"\/" + MIX[:19]

    assert (
        redact(f'"SecretAccessKey": "{key}"').text
        == '"SecretAccessKey": "[redacted:aws-secret-key]"'
    )


HARMLESS = """\
Use ConvertTo-SecureString with -Key where it runs on 2 machines.
after vault login run vault token lookup, then read the policies
no API key here
the api of ZebraPrinterControl20Service was moved
kubectl create secret generic x --from-literal=mode=careful
signingkey = 0x2302426604524110
label.password=Mot de passe de la caisse
the api key is stored in vault
const key = import.meta.env.X_API_KEY
apiKey: process.env.API_KEY,
token = os.environ["TOKEN"]
API_KEY=${SECRET}
export TOKEN=$TOKEN_2
api_key: <YOUR_API_KEY>
api_key = "your-api-key-here"
API_KEY=xxxx-xxxx-xxxx-1234
API_KEY=changeme123
password: required
login.error.password=The password is not correct.
error codes ERR-1001, ERR-1002 and codes utf-8, utf-16, latin-1
password: "must be at least 8 characters"
password = None
password=password2
def login(user: str, password: str = "") -> Token1:
token = get_token()
token = get_token_v2(user)
token = self.client.token_2
password = settings.db.password1
password := os.Getenv("DB_PASSWORD_2")
password: z.string().min(8).max(64)
password VARCHAR(255) NOT NULL
password: {{ vault_db_password2 }}
password: ${{ secrets.DB_PASSWORD_2 }}
password_min_length = 12
--password-stdin reads it, --password asks for it
-p, --password <PASSWORD>  the password to use
secretKeyRef: {name: db-secret-v2, key: password}
secret: my-app-secret-v2
private_key = "~/.ssh/id_ed25519"
token_file: /run/secrets/token1.txt
token: ./tokens/token1
secret = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:db"
max_tokens: 4096
tokens = 123456789
tokenizer = "bert-base-uncased-v2"
token: OAuth2Token
pip install sk-learn==1.2.3
task-0123456789abcdef0123456789abcdef is done
fixed in 1f0e2d3c4b5a69780f1e2d3c4b5a69780f1e2d3c
request 123e4567-e89b-12d3-a456-426614174000 failed
sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
e3b0c44298fc1c149afbf4c8996fb924  dist/app.tar.gz
"integrity": "sha512-a1B2c3D4e5F6g7H8a1B2c3D4e5F6g7H8a1B2c3D4e5F6g7H8a1B2c3D4e5F6g7H8=="
color: #1e2d3c; background: #0f1e2d80
/usr/lib/python3.11/site-packages/secret_storage/token2.py
keys beginning with AKIA belong to users, ASIA to roles
AKIA stands first, then 16 characters
auth: dGhlIHF1aWNrIGJyb3duIGZveA==
auth = requireAuthentication
basic authentication and basic knowledge
cache-key-0123456789abcdef0123456789abcdef
http://localhost:3000/@vite/client
http://localhost:8080?mail=a@b.io
git+ssh://git@github.com:acme/app.git
https://github.com/acme/app/blob/main/src/auth.ts#L10-L20
postgres://app:${DB_PASSWORD}@db/app
postgres://app:<password>@db/app
Authorization: Bearer $TOKEN
Authorization: Bearer <token>
Authorization: Bearer YOUR_TOKEN_1_HERE
Authorization: Basic authentication is off
Bearer authentication for the v2 endpoints
docker run -u 1000:1000 image
machine learning login and password reset
a file starts with -----BEGIN PRIVATE KEY----- and then base64
-----BEGIN CERTIFICATE----- MIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQsw
-----BEGIN PUBLIC KEY----- MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA0f1e2d3c
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA1B2c3D4e5F6g7H8a1B2c3D4e5F6g7H8 me@host
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk
ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
sk-ant-your-key-goes-in-this-place
xoxb-not-a-real-token-at-all
hf_hub_download and npm_config_registry and gsk_tokenizer
std::vector<private_key> keys; Map<PrivateKey, string>
ssh-keygen -y -f <private key> > <public key>
class Box { private: int secret_2; }
the private beta, and <private-tag> in a schema
<prıvate> is another word than private
commit -m 'rotate tokens: 3 of 12 done'
eyJ is how a JWT starts
export const TOKEN_HEADER = 'x-token'
secret sauce: 2 parts rust, 1 part python3
if (token === undefined) throw new Error401()
x-api-key: {API_KEY_1}
session.token: Optional[str64] = None
Token: "#d8dee9",
withCredentials: kEnumerableProperty,
headers["Authorization"] = self._build_auth_header(username)
headers = {"Authorization": v4auth_header}
`password=` is the prefix
curl -H 'Idempotency-Key: 7f3c2b1a9d8e7f6a5b4c' https://x.example
curl -H "X-Api-Key: ${API_KEY}" https://x.example
https://x.example/list?passed=12345
h = "Bearer {}".format(token_value_12)
AES.new(key, AES.MODE_CBC, iv)
Cipher.getInstance("AES/CBC/PKCS5Padding")
Wallet.fromAddress("0x52908400098527886E0F7030069857D2E4169EE7")
$stmt->bind_param("ss", "dana@x.example", $name)
client.bind("cn=admin,dc=acme", config.pw)
grep foo <<< "this is only some text"
sock.send(b"PASS %s\\r\\n")
sock.send("AUTH CRAM-MD5\\r\\n")
secretName: tls-wildcard-2031
STRIPE_PUBLISHABLE_KEY=pk_test_65ENpyAm0hKnlx5VG3ZeDKcj
AWS_SECRET_ACCESS_KEY=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
amqp://guest:guest@localhost:5672/
password options: length=12
signingkey = B6847CCE12EF075F
const ETH_TOKEN = "0x52908400098527886E0F7030069857D2E4169EE7"
TEST_KEY = "0123456789abcdef0123456789abcdef"
password = pypi-<paste here>
MONGO_URI=mongodb+srv://<username>:<password>@cluster0.example.net/
conn = connect(user=cfg.user, password=cfg.password, host=cfg.host)
log.Printf("login user=%s password=[hidden]", u.Name)
keytool -list -keystore trust.jks -storepass:env STOREPASS
docker login -u robot --password-stdin hub.acme.example < ~/.pw
aws s3api get-object --key raw/jan.csv --version-id ULHX0ndXCZTaXlzbQ1opl89hIy0Ua
createHmac("sha256", settings.key)
jwt.decode(token, key, algorithms=["HS256"])
export GIT_COMMIT=1f0e2d3c4b5a69780f1e2d3c4b5a69780f1e2d3c
the password reset ticket is 831560
""".splitlines()


@pytest.mark.parametrize(
    ("before", "value", "after"),
    [
        pytest.param("secretName: ", "Zk48rrpWq8vD", "", id="a value that no object is named like"),
        pytest.param("amqp://guest:", "guest", "@rabbit.acme.example", id="elsewhere"),
        pytest.param(
            "password of the exchange: ", "Gonfialone=88", "\nnext", id="a sign of equality"
        ),
        pytest.param(
            "the passwords that changed this month:\n- printer: as before\n * intranet: ",
            "Heron_Red31",
            "\n- host: Srv01.acme.example\n",
            id="an item below",
        ),
    ],
)
def test_a_secret_is_found_by_its_form_where_a_like_one_is_none(before, value, after):
    left = redact(before + value + after).text

    assert left.startswith(before + "[redacted:")
    assert left.endswith("]" + after)


@pytest.mark.parametrize(
    "text",
    [
        "the passwords that changed:\n- owner: Team42\n- host: Srv01.example.com",
        "passwords, in general.\n\nother\n- node: Abcdefg1Hi",
        "password_policy:\n  - kind: Sha256Hash",
    ],
)
def test_items_below_that_are_no_values_or_below_no_heading_are_kept(text):
    assert redact(text).text == text


def test_what_only_talks_about_secrets_is_kept():
    for line in HARMLESS:
        assert redact(line) == Redacted(text=line, found=())


def spoken(form: str) -> str:
    return form.replace("X", CANARY)


PRIVATE = [
    ("a <private>X</private> b", "a [private] b"),
    ("<private>X</private>", "[private]"),
    ("a <PRIVATE>X</PRIVATE> b", "a [private] b"),
    ("a <Private>X</pRIVATE> b", "a [private] b"),
    ("a < private >X</ private > b", "a [private] b"),
    ("a <private >X< / private> b", "a [private] b"),
    ("a <\tprivate\n>X<\n/\tprivate\n> b", "a [private] b"),
    ("a <\u00a0private>X</private> b", "a [private] b"),
    ('a <private reason="x">X</private> b', "a [private] b"),
    ("a <private reason='x' by=me>X</private> b", "a [private] b"),
    ('a <private\n  reason="x"\n>X</private> b', "a [private] b"),
    ('a <private reason="1 > 0">X</private> b', "a [private] b"),
    ("a <private>X</private reason='x'> b", "a [private] b"),
    ("a <private>one\nX\r\nthree</private> b", "a [private] b"),
    ("a <private></private> b", "a [private] b"),
    ("a <private><private>o</private>X</private> b", "a [private] b"),
    ("a <private>1<private>2<private>3</private></private>X</private> b", "a [private] b"),
    ("a <private>X</private> b <private>X</private> c", "a [private] b [private] c"),
    ("a <private>X</private><private>X</private> b", "a [private][private] b"),
    ("a <private>X", "a [private]"),
    ("a <private>1<private>2</private>X", "a [private]"),
    ("a <private>1</private> b <private>X", "a [private] b [private]"),
    ("a <private>X</private", "a [private]"),
    ("a <private>X</priv", "a [private]"),
    ("a <private X</private> b", "a [private] b"),
    ('a <private reason="x" X', "a [private]"),
    ("a <private/>X</private> b", "a [private] b"),
    ("a <private><b>X</b></private> b", "a [private] b"),
    ("a <private>if x < 3 and X > 2</private> b", "a [private] b"),
    ("`<private>X</private>` b", "`[private]` b"),
    ("a </private> b", "a  b"),
    ("</private>a <private>X</private> b</private>", "a [private] b"),
    ("a <private>X</private></private> b", "a [private] b"),
    ("a <pri</private>vate>X</private> b", "a [private]"),
    ("a <pri</priv</private>ate>vate>X</private> b", "a [private]"),
    ("a <private>日本X🔑</private> b", "a [private] b"),
    ("a\x00<private>X\x00</private> b", "a\x00[private] b"),
    ("a <private>X\ud800</private> b", "a [private] b"),
    ("a <private>X" + "</private> b", "a [private] b"),
]


@pytest.mark.parametrize(("form", "expected"), PRIVATE)
def test_a_private_span_leaves_one_marker(form, expected):
    redacted = redact(spoken(form))

    assert redacted.text == expected
    assert redacted.found == ("private",) * expected.count("[private]")


def test_found_tells_private_spans_first_then_secrets_as_they_stand_in_the_text():
    text = f"npm_{MIX[:36]} ghp_{MIX[:36]} <private>x</private> {'AKIA' + CAPS[:16]}"

    assert redact(text).found == ("private", "npm-token", "github-token", "aws-access-key")


def test_overlapping_secrets_become_one_named_by_what_is_known_best():
    text = f'password = "ghp_{MIX[:36]}-and-more"'

    assert redact(text) == Redacted(
        text='password = "[redacted:github-token]"', found=("github-token",)
    )


def test_a_secret_put_together_by_what_was_taken_out_is_found():
    text = f"gh</private>p_{MIX[:36]}"

    assert redact(text).text == "[redacted:github-token]"


def test_text_that_goes_on_producing_tags_is_withheld_whole():
    text = "</pri" * 40 + "</private>" + "vate>" * 40 + CANARY

    assert redact(text).text == "[private]"


FRAGMENTS = st.sampled_from(
    [
        *("<private>", "</private>", "<", "/", ">", "private", " x=", "[private]", "\\n", "\n"),
        *("password", "token", "api_key", " = ", ": ", '"', "'", "--", "Bearer ", "://u:", "@"),
        *(
            "AKIA" + CAPS[:16],
            "ghp_" + MIX[:36],
            "npm_" + MIX[:36],
            "eyJ" + MIX[:9] + ".",
            "xxxxxx",
        ),
        *("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", MIX[:20], "hunter2", "."),
    ]
)
ANYTHING = st.text(st.characters(exclude_categories=()), max_size=8)  # lone surrogates too
TEXTS = st.lists(FRAGMENTS | ANYTHING, max_size=12).map("".join)


@given(TEXTS)
def test_redacting_twice_adds_nothing(text):
    once = redact(text)

    assert redact(once.text) == Redacted(text=once.text, found=())


@pytest.mark.parametrize("spelt", [str, str.lower, str.upper, str.swapcase])
def test_no_pattern_matches_where_its_hints_are_missing(spelt):
    patterns = [re.compile(pattern, re.ASCII) for _, _, pattern in TABLE]
    for case in SECRETS:
        text = spelt("".join(case.values[1:]))
        ranks = {rank for rank, _, _ in match_hints(text)}
        passed_over = [pattern for rank, pattern in enumerate(patterns) if rank not in ranks]
        assert [pattern for pattern in passed_over if pattern.search(text)] == []


LENGTH = 400_000
GREEDY = [
    "a",
    " ",
    "<private>",
    "</private>",
    "<private ",
    "< ",
    "-----BEGIN",
    "-----BEGIN PRIVATE KEY-----",
]


@pytest.mark.parametrize("piece", GREEDY)
def test_the_time_for_bait_grows_with_its_length(piece):
    """Four times the text takes 16 times as long where a pattern is quadratic."""

    def measure(length):
        text = piece * (length // len(piece))
        started = time.process_time()
        redact(text)
        return time.process_time() - started

    assert measure(LENGTH) < 9 * measure(LENGTH // 4) + 0.1


BAIT = [
    *("password ", "the pw: x1 ", "“password", "пароль ", "パスワードは「", "phrase: aaaa bbbb "),
    *(
        "key ",
        "Key 1: ",
        "token ",
        "secret=",
        "log in as ",
        "root / ",
        "x as password ",
        "password:\n",
    ),
    *("the gate code is ", "code\n", "codes\nab12-cd34\n", "seed ", "seedling\n", "seed abcdef "),
    *(
        "kind: Secret\ndata:\n a: b\n",
        "name: token value: ",
        'variable "token" {',
        "a_b_c-",
        "A1b2",
    ),
    *("passphrase a b c d ", "user / a1b2c3 ", "« Key-9a ", "code 12 34 ", "DB_PASS_"),
    *("alarm 12 left 3 right 4 ", "kai: pin 12\n", "user: a\npassword: b\n", "key --opt a1b2 "),
    *('"a1b2")  # key ', "host=a user=b ", "EMAIL_PASS=abcd ", "jwt.sign(a, ", "_pw: a'b("),
    *("ssh('a.b','c','", "key={0x0f,", "TRUE / TRUE 1 a ", "Kettle=Drum3 password "),
    *("MIIEpAIBA" + "A" * 24 + "\n", "AKIA" + "A" * 16 + " ", "kv put a=", "net use ", "WIFI:P"),
]


@pytest.mark.parametrize("piece", BAIT)
def test_the_time_for_bait_of_sentences_lists_and_names_grows_with_its_length(piece):
    def measure(length):
        text = piece * (length // len(piece))
        started = time.process_time()
        redact(text)
        return time.process_time() - started

    assert measure(20_000) < 9 * measure(5_000) + 0.1


@pytest.mark.parametrize("prose", ["rotate the secret token and the key", "forgot my password"])
def test_words_for_secrets_in_plain_prose_load_no_pattern(prose):
    assert list(match_hints(prose)) == []


def test_no_pattern_repeats_a_group_possessively():
    """Python before 3.11.5 then misses what it should match, and the secret stays."""
    for name, _, pattern in TABLE:
        assert not re.search(r"\)(?:[*+?]|\{\d*,?\d*\})\+", pattern), name


def test_a_text_in_which_nothing_was_found_is_searched_once(monkeypatch):
    searched, mask = [], redaction.mask
    monkeypatch.setattr(redaction, "mask", lambda text: searched.append(text) or mask(text))
    plain, leak = f"{CANARY} is searched", f"password={MIX[:20]}"
    for _ in range(3):
        assert redact(plain).found == ()
        assert redact(leak).found

    assert searched.count(plain) == 1
    assert searched.count(leak) == 3
