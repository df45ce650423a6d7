"""Texts with a secret in them, and texts that only look like it; the rules must tell them apart.

A secret stands between ⟦ and ⟧. `@hex(40)` and its relatives are put together when the corpus is
read, so that no scanner takes this file for a leak. Every second text is held out: rules were made
for the first halves alone; the last kind was written when they were done.
"""

from __future__ import annotations

import base64
import hashlib
import random
import re
import string
from collections.abc import Iterator
from typing import NamedTuple

WITH_SECRETS = {
    "English prose": r"""
the staging password is ⟦hunter2Blue⟧ for all of us
Log in to the admin page with password ⟦Zebra!9912⟧ and choose Settings
my password is ⟦tr0ub4dor&3⟧
The password for the reporting database is ⟦k9Lmp2xQ⟧, ask Dana if it was changed
the root password of the build box is: ⟦S0mmerwind⟧
use admin / password ⟦Fr0stbite#77⟧ on the demo box
The wifi password is ⟦sunshine-garden-42⟧
the database password was changed to ⟦Xk7.vvP2mm⟧ last night
set the password to ⟦quiet$River8⟧ before running the importer
password for the test user: ⟦Passw0rd!2024⟧
login as deploy with the password "⟦blue-Kettle-19⟧"
the passphrase is ⟦march0fTheP3nguins⟧
sign in with user qa and pass ⟦mango#4471⟧
the PIN for the safe is ⟦829164⟧
the staging password is ⟦swordfish⟧
the db pw is ⟦rT55_kkzLq⟧
""",
    "other languages": r"""
Das Passwort ist ⟦Sommer2024!⟧ und gilt bis März
Passwort für die Testdatenbank: ⟦gEheim_77x⟧
mit dem Passwort ⟦Blauw4l#12⟧ anmelden
Das Kennwort lautet ⟦Kx9-mmPq2⟧
das Datenbankpasswort ist ⟦w1nterReise⟧
mot de passe : ⟦Ete2024!bleu⟧
le mot de passe de la base est ⟦j4rdinSecret⟧
connecte-toi avec le mot de passe ⟦Chat-Noir_88⟧
la contraseña es ⟦Verano#2025⟧
contraseña del servidor: ⟦qw98Zx!mm⟧
entra con la contraseña ⟦gatoNegro17⟧
密码是 ⟦abc12345XYZ⟧
数据库密码：⟦Qwer!9876⟧
测试环境的密码为⟦T3st_env#1⟧
root 密码是⟦zhongguo2024⟧，不要外传
la password di staging è ⟦Tramonto_55⟧
a senha do banco é ⟦Lua!cheia9⟧
パスワードは⟦sakura2024!⟧です
""",
    "named in words": r"""
aws secret access key is ⟦@b64(40)⟧
the signing secret is ⟦@hex(32)⟧
api key for stripe: ⟦@mix(32)⟧
The API key for the weather service is ⟦@hex(32)⟧
our webhook secret is ⟦@mix(28)⟧ in both environments
client secret of the Azure app: ⟦@mix(34)⟧
encryption key is ⟦@hex(64)⟧
the bot token is ⟦@mix(40)⟧
access token for the CI account: ⟦@hex(40)⟧
the deploy key for the mirror is ⟦@mix(36)⟧
JWT secret: ⟦@mix(44)⟧
personal access token is ⟦@mix(52)⟧
""",
    "quoted, with blanks": r"""
log in with password '⟦correct horse battery⟧'
password = "⟦my dog has fleas⟧"
the vault passphrase is "⟦seven green bottles on the wall⟧"
passphrase: '⟦the quick brown otter swims⟧'
Passwort: „⟦vier gelbe Autos fahren⟧“
mot de passe : « ⟦trois petits chats⟧ »
DB_PASSWORD="⟦open sesame now⟧"
the master password is `⟦purple monkey dishwasher⟧`
""",
    "command lines": r"""
mysql -u root -p⟦Gr4nite99⟧ shop < dump.sql
mysqldump -h db.internal -uapp -p⟦s3cr3tDump⟧ --all-databases
PGPASSWORD=⟦pg_Strong1⟧ psql -h db -U app
curl -u deploy:⟦n0tSoSecret⟧ https://artifacts.internal/x.tgz
sshpass -p ⟦Tr41nStation⟧ ssh ops@10.0.0.4
sshpass -p '⟦two words9⟧' scp a.txt ops@host:/tmp
docker login -u acme -p ⟦D0ckerHub!7⟧ registry.acme.io
redis-cli -h cache -a ⟦r3disPass!⟧ ping
MYSQL_PWD=⟦hidden77x⟧ mysqldump app
openssl enc -aes-256-cbc -pass pass:⟦enc_Pass9⟧ -in a -out b
mongosh --host m1 -u root -p ⟦m0ngoRoot!⟧ --eval 'db.stats()'
aws configure set aws_secret_access_key ⟦@b64(40)⟧
kubectl create secret generic db --from-literal=password=⟦kub3Pass_1⟧
smbclient //nas/share -U backup%⟦Nas!backup8⟧ -c ls
ldapsearch -x -D cn=admin,dc=acme -w ⟦ldapAdm1n⟧ -b dc=acme
wget --user=ci --password=⟦wg3tMeIn⟧ https://files.internal/a.zip
echo '⟦sudoP4ss!⟧' | sudo -S systemctl restart app
htpasswd -b /etc/nginx/.htpasswd alice ⟦al1cePass⟧
""",
    "configuration files": r"""
{"auths": {"registry.acme.io": {"auth": "⟦@basic()⟧"}}}
machine api.acme.io login bot password ⟦n3trcPass⟧
//npm.corp/:_authToken=⟦@uuid()⟧
//npm.acme.io/:_authToken=⟦npm_@mix(36)⟧
users:\n- name: admin\n  user:\n    token: ⟦@mix(48)⟧
    client-key-data: ⟦@b64(120)⟧
db.internal:5432:shop:app:⟦pgp4ssFile⟧
[pypi]\nusername = __token__\npassword = ⟦pypi-AgEIcHlwaS5vcmc@mix(90)⟧
define( 'DB_PASSWORD', '⟦wpS3cure!x⟧' );
Server=tcp:sql.acme.io;Database=shop;User Id=sa;Password=⟦Sq1Server!⟧;Encrypt=true
spring.datasource.password=⟦spr1ngTime⟧
[client]\nuser=root\npassword=⟦mycnf_77⟧
https://bot:⟦@hex(20)⟧@git.acme.io
SECRET_KEY_BASE=⟦@hex(128)⟧
db_password = "⟦t3rraForm!⟧"
sonar.login=⟦@hex(40)⟧
      - POSTGRES_PASSWORD=⟦c0mposePg⟧
<add key="SmtpPassword" value="⟦sm7pMail!⟧" />
""",
    "headers and cookies": r"""
Cookie: sessionid=⟦@mix(32)⟧; theme=dark
Set-Cookie: connect.sid=⟦s%3A@mix(32)⟧; Path=/; HttpOnly
Cookie: csrftoken=⟦@mix(64)⟧
curl -b 'JSESSIONID=⟦@upperhex(32)⟧' https://app.internal/
curl -H 'X-Api-Key: ⟦@mix(32)⟧' https://api.acme.io/v1
PRIVATE-TOKEN: ⟦glpat-@mix(20)⟧
X-Vault-Token: ⟦hvs.@mix(90)⟧
Authorization: Basic ⟦@basic()⟧
Proxy-Authorization: Basic ⟦@basic()⟧
Authorization: Bearer ⟦@mix(48)⟧
authorization: token ⟦@hex(40)⟧
Set-Cookie: auth_token=⟦@jwt()⟧; Secure
""",
    "vendors' tokens": r"""
export GH_TOKEN=⟦ghp_@mix(36)⟧
⟦github_pat_@mix(22)_@mix(59)⟧
GITLAB: ⟦glpat-@mix(20)⟧
the runner registers with ⟦glrt-@mix(20)⟧
npm publish fails with ⟦npm_@mix(36)⟧
⟦AKIA@caps(16)⟧ is the key of the old user
⟦sk_live_@mix(24)⟧
stripe listen --api-key ⟦rk_test_@mix(24)⟧
slack says ⟦xoxb-@digits(12)-@digits(12)-@mix(24)⟧
⟦SG.@mix(22).@mix(43)⟧ in SendGrid
⟦AIza@mix(35)⟧ is for maps
openai: ⟦sk-proj-@mix(60)⟧
anthropic ⟦sk-ant-api03-@mix(90)-AA⟧
⟦hf_@mix(34)⟧ reads models
digitalocean ⟦dop_v1_@hex(64)⟧
telegram bot ⟦@digits(10):AA@mix(33)⟧
twilio ⟦SK@hex(32)⟧
⟦dckr_pat_@mix(27)⟧ pushes images
linear ⟦lin_api_@mix(40)⟧
https://hooks.slack.com/services/⟦T@caps(8)/B@caps(8)/@mix(24)⟧
https://discord.com/api/webhooks/⟦@digits(18)/@mix(68)⟧
⟦shpat_@hex(32)⟧ of the shop
⟦AccountKey=@b64(86)==⟧;EndpointSuffix=core.windows.net
⟦GOCSPX-@mix(28)⟧ is the client secret
⟦@mix(14).atlasv1.@mix(67)⟧ for terraform cloud
datadog api key ⟦@hex(32)⟧ is in the agent
""",
    "key material": r"""
wallet key ⟦@wif()⟧ is the test wallet
⟦@wif_compressed()⟧
-----BEGIN RSA PRIVATE KEY-----\n⟦@pem()⟧\n-----END RSA PRIVATE KEY-----
-----BEGIN OPENSSH PRIVATE KEY-----\n⟦@pem()⟧\n-----END OPENSSH PRIVATE KEY-----
token ⟦@jwt()⟧ was in the log
otpauth://totp/Acme:dana?secret=⟦@b32(32)⟧&issuer=Acme
the TOTP seed is ⟦@b32(32)⟧
2FA secret: ⟦@b32(16)⟧
⟦AGE-SECRET-KEY-1@caps(58)⟧
PRIVATE_KEY=0x⟦@hex(64)⟧
⟦xprv9s21ZrQH143K@base58(95)⟧
{"kty":"RSA","n":"abc","e":"AQAB","d":"⟦@url64(120)⟧"}
""",
    "addresses": r"""
postgres://app:⟦pgUrl77⟧@db.internal:5432/shop
mongodb+srv://root:⟦m0ngo%21x⟧@cluster0.acme.mongodb.net/test
redis://:⟦r3d1s⟧@cache:6379/0
amqp://guest:⟦rabbit8x⟧@mq/vhost
https://dana:⟦hunter2⟧@jenkins.internal/job/x
jdbc:mysql://db/shop?user=app&password=⟦jdbcPw12⟧
https://api.acme.io/v1/users?api_key=⟦@mix(32)⟧
https://acme.blob.core.windows.net/c/f?sv=2023&sig=⟦@mix(43)%3D⟧&se=2030
ftp://backup:⟦ftpPass!⟧@10.0.0.9/in
https://maps.acme.io/js?key=⟦@mix(39)⟧&v=3
""",
    "names": r"""
fix/rotate-⟦ghp_@mix(36)⟧
feature/⟦AKIA@caps(16)⟧-cleanup
backup_⟦sk_live_@mix(24)⟧.sql
session-⟦glpat-@mix(20)⟧
logs/run-⟦xoxb-@digits(12)-@digits(12)-@mix(24)⟧.txt
src/keys/⟦@jwt()⟧.token
hotfix/password=⟦Fall2024!⟧
dump-⟦npm_@mix(36)⟧-old.json
""",
    "written after the rules": r"""
Our Jenkins admin password is ⟦Gr33nTea!⟧
the new password for prod-db is ⟦xK9#mmQ2w⟧ since Friday
Grafana login is admin with password ⟦dashb0ard⟧
to log in use the password: ⟦Winter!2023⟧
the password of user backup is ⟦nightly77⟧
password on the router is ⟦adminadmin1⟧
The keystore password is ⟦changeit2024⟧
Use password ⟦Qx!778-lamp⟧ for the VPN
the sudo password is ⟦letmein99⟧
the ssh passphrase is ⟦tulip-Bridge-7⟧
the decryption passphrase: "⟦rain falls on tin roofs⟧"
Das Root-Passwort lautet ⟦Herbst#22⟧
Das Kennwort für den Drucker ist ⟦druck3r!⟧
melde dich mit Passwort ⟦Hafen_2231⟧ an
le mot de passe du serveur est ⟦Lune!7788⟧
mot de passe wifi: ⟦cafe-noir-12⟧
la contraseña de la base de datos es ⟦m4drugada!⟧
la clave de API es ⟦@mix(32)⟧
管理员密码是⟦Admin@2023⟧
密码: ⟦hello9876⟧
服务器的密码为 ⟦p4ssW0rd99⟧
the GitHub webhook secret is ⟦@hex(40)⟧
our HMAC secret is ⟦@mix(40)⟧
Sendbird API token: ⟦@hex(40)⟧
the Algolia admin key is ⟦@hex(32)⟧
api token for Jira is ⟦@mix(24)⟧
client_secret is ⟦@mix(40)⟧
mysql -h localhost -P 3307 -u app -p'⟦my S3cret⟧' app
export PGPASSWORD='⟦zebra99x⟧'
curl --user admin:⟦Secr3tPass⟧ http://nas.local
curl -H "Cookie: session=⟦@mix(40)⟧" https://x
docker login registry.io --username bob --password ⟦Dck3rPass⟧
mongodump --uri "mongodb://root:⟦ex4mplePw⟧@mongo:27017"
spring.redis.password: ⟦red1sSpring⟧
MAIL_PASSWORD="⟦sm tp pass w0rd⟧"
{"auth": "⟦@basic()⟧"}
//npm.pkg.github.com/:_authToken=⟦ghp_@mix(36)⟧
L5 wallet: ⟦@wif_compressed()⟧
user/⟦AKIA@caps(16)⟧/session
the TOTP secret for the CI bot: ⟦@b32(32)⟧
X-Auth-Token: ⟦@hex(32)⟧
the license key is ⟦@mix(30)⟧
set DB_PASS=⟦d8Pass!x⟧
ssh-keygen -t ed25519 -N '⟦n3wPhrase!⟧' -f key
""",
}

HARMLESS = {
    "talk about passwords": r"""
password must be at least 12 characters
the password is wrong
the password is required
the password is stored as an argon2 hash
the password is too short for the policy
the password is never logged
the password was changed last night by the cron job
the password is hashed with bcrypt before it is stored
password is empty when LDAP is used
with password authentication the tunnel hangs
log in with password reset links only
with password managers this page loops
set the password to expire after 90 days
the password for the database comes from Vault
the password for staging is in 1Password
the password of the build user is rotated monthly
password policy: NIST 800-63B
a password with 12 characters takes 3 seconds to hash
my password is not accepted after the update
the password field is 72 bytes long
password: see the vault
password = getpass.getpass()
password=$(pass show db/staging)
PGPASSWORD=$DB_PASS psql -h db
mysql -p asks for the password
mysql -u root -p shop
mysql --protocol=tcp -P3306
ssh -p 2222 host
mkdir -p /srv/app2/data
docker run -p 8080:80 nginx
cp -pR src1 dst2
curl -u $USER:$TOKEN https://x
docker login -u acme --password-stdin
sshpass -e ssh host
the passphrase is asked for at every start
passphrase prompts break the CI
passcodes have six digits
pass the flag on to the child process
tests pass with Python3.12 and numpy2
pass 2 of the compiler rewrites SSA form
sign in with your GitHub account
the PIN is asked for twice
pin the version to 4.2.1
PIN code entry needs 6 digits
reset password flow v2 uses signed links
password_reset_timeout = 3600
PASSWORD_HASHERS has PBKDF2PasswordHasher first
passwordless login is behind the flag login_v2
the default password policy came with v3.11
use a password manager, e.g. 1Password or KeePassXC
""",
    "talk about tokens and keys": r"""
the token expires in an hour
the token is a JWT signed with RS256
the token is invalid after logout
the access token is refreshed by the interceptor
access tokens live for 3600 seconds
the refresh token is kept in an HttpOnly cookie
the API key is read from the environment
the API key is missing in CI
api key rotation happens on the 1st of each month
the signing secret is rotated weekly
the signing secret is per-tenant since v2
the client secret is required for confidential clients
the webhook secret is the one from the dashboard
client secret expires 2026-01-31
the secret is to rehearse
the secret is that nobody reads page 2
secrets are mounted at /run/secrets
encryption key is derived by HKDF-SHA256
the encryption key is 256 bits long
the primary key is composite: tenant_id, user_id
foreign key fk_orders_user2 is missing
the partition key is user_id#2024
key: value pairs are sorted by key
sort key: created_at desc
cache key is user:42:profile
idempotency key is the UUID of the order
the S3 key is uploads/2024/05/report.pdf
Redis key: session:42:cart
bearer tokens are checked by middleware_v2
tokenizer.json has 30522 tokens
the model reads 8192 tokens
max_tokens=4096
token bucket with 100 tokens per second
CSRF token is checked for POST requests
the csrf token is rendered by the template
cookie banner: v2 is behind a flag
Cookie: theme=dark; lang=en
Set-Cookie: lang=de; Path=/
cookies are SameSite=Lax
the session cookie lives for 14 days
credentials: include
credentials are loaded by boto3
aws_secret_access_key comes from the instance profile
AWS secret access keys are rotated every 90 days
deploy key for the docs repository is read-only
ssh key is ed25519 since 2023
private key is on the HSM
the private key is in ~/.ssh/id_ed25519
OAuth2 client_credentials grant
token type: Bearer
authToken is set by AuthProvider2
personal access tokens need the scope read_api
""",
    "other languages": r"""
passwort vergessen Funktion
Das Passwort ist falsch
Passwort muss mindestens 12 Zeichen haben
Das Passwort ist abgelaufen
Passwort: mindestens 8 Zeichen
das Kennwort lautet in jeder Umgebung anders
mit dem Passwort aus dem Tresor anmelden
Passwort zurücksetzen geht nur per E-Mail
das Passwort ist im Vault
le mot de passe est incorrect
mot de passe oublié
le mot de passe doit contenir 12 caractères
mot de passe : obligatoire
avec le mot de passe du coffre
la contraseña es obligatoria
la contraseña es incorrecta
contraseña: mínimo 8 caracteres
contraseña olvidada
con la contraseña del gestor
密码是必填项
密码错误，请重试
密码长度至少8位
忘记密码功能
密码是加密存储的
密码为空时返回401
la password è obbligatoria
a senha é obrigatória
パスワードは必須です
パスワードは8文字以上
パスワードを忘れた場合
""",
    "hashes and ids": r"""
@hex(40)
fixed in @hex(7)
revert @hex(40) because of the flaky test
commit @hex(12) broke the importer
sha256:@hex(64)
sha256 @hex(64)  dist/app-1.2.0.tar.gz
md5 @hex(32) of fixtures/a.bin
image acme/app@sha256:@hex(64)
request @uuid() failed
trace_id=@hex(32)
span @hex(16) is missing its parent
session @uuid() was resumed
"integrity": "sha512-@b64(86)=="
etag: "@hex(32)"
ETag W/"@hex(16)"
order ord_@mix(14) was paid twice
user usr_@mix(20) cannot log in
run @digits(10) of the workflow
build @digits(5)-@hex(8) is red
ULID 01HZX3Q8V9K2M4N6P8R0S2T4V6 sorts by time
01890a5d-ac96-774b-bcce-b302099a8057 is a UUIDv7
object id @hex(24) in mongo
nanoid V1StGXR8_Z5jdHi6B-myT
cache-@hex(32)
layer @hex(64) is 300 MB
tree @hex(40)
go.sum h1:@b64(43)=
Gemfile.lock CHECKSUMS sha256=@hex(64)
crc32 deadbeef
uuid namespace 6ba7b810-9dad-11d1-80b4-00c04fd430c8
the digest is @hex(64)
blob @hex(40) is 12 MB
fingerprint SHA256:@b64(43)
message id <@hex(16)@mail.acme.io>
correlation-id: @uuid()
job @hex(8) waits for the lease
address 0x7fff5fbff8a0 is on the stack
transaction 0x@hex(64) was mined
contract 0x@hex(40) is verified
bitcoin address 1BoatSLRHtKNngkdXEeobR76b53LETtpyT
""",
    "code": r"""
password: str = Field(min_length=12)
const password = useRef(null)
if (password !== confirmPassword2) return
user.set_password(new_password1)
password = request.form["password"]
token = jwt.encode(payload, key2, "HS256")
token = secrets.token_urlsafe(32)
headers["X-Api-Key"] = settings.api_key_v2
api_key = os.environ.get("STRIPE_API_KEY_2")
secret = base64.b32encode(os.urandom(20))
secret: Optional[SecretStr] = None
SECRET_KEY = env("DJANGO_SECRET_KEY")
PasswordInput2 wraps TextInput
def verify_password(plain, hashed): ...
raise InvalidToken401("expired")
@mock.patch("app.auth.check_password2")
SELECT password_hash FROM users WHERE id = 42
ALTER USER app PASSWORD NULL
CREATE TABLE tokens (id int8, token text)
grep -rn "password" src/auth2
--secret id=npmrc,src=.npmrc
secrets.GITHUB_TOKEN is read-only for forks
${{ secrets.NPM_TOKEN }}
env: { API_KEY: !Ref ApiKeyParameter2 }
valueFrom: secretKeyRef: db-pass-v2
password: <%= ENV["DB_PASSWORD1"] %>
<input type="password" name="password2">
autocomplete="current-password"
assert response.json()["token"]
private_key_path: certs/dev2.pem
git config credential.helper store
Authorization: Bearer ${TOKEN}
curl -H "Authorization: Bearer $CI_JOB_TOKEN"
https://user:${PASS}@host/x
https://docs.acme.io/auth?next=/login
http://localhost:9200/_search?q=key:value
redis://cache:6379/0
postgresql:///shop?host=/var/run/postgresql
amqp://mq.internal:5672
otpauth:// links are made by pyotp
""",
    "placeholders": r"""
password: changeme
password: <your password>
password = "********"
PASSWORD=xxxxxxxx
API_KEY=your_api_key_here
api_key: YOUR-API-KEY
token: "<token>"
sk_live_xxxxxxxxxxxxxxxxxxxxxxxx
ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
AKIAIOSFODNN7EXAMPLE is in the AWS docs
password is [redacted:password]
the password is <secret>
the password is ********
the password is "..."
mot de passe : <votre mot de passe>
Passwort: <dein Passwort>
密码是 <你的密码>
Cookie: session=<id>
mysql -p<password> shop
PGPASSWORD=<password> psql
curl -u user:<token> https://x
https://user:<password>@host
-----BEGIN PRIVATE KEY----- … -----END PRIVATE KEY-----
Authorization: Basic <base64>
token=REPLACE_ME
""",
    "file names and paths": r"""
src/auth/password_reset2.py
tests/fixtures/token_2024.json
config/secrets.example.yml
docs/api-key-rotation-v2.md
~/.aws/credentials
certs/server2.key
/etc/letsencrypt/live/acme.io/privkey1.pem
migrations/0012_add_password_hash.sql
node_modules/.cache/babel/@hex(40).json
.git/objects/ab/@hex(38)
dist/assets/index-@mix(8).js
s3://acme-logs/2024/05/01/@uuid().gz
screenshots/login-password-error-3.png
feature/password-reset-v2
fix/token-refresh-race-2
release/2024.05.1
hotfix/ABC-1234-api-key-header
dependabot/npm_and_yarn/jsonwebtoken-9.0.2
session-2024-05-01T10-00-00.jsonl
backup_2024_05_01_a1b2c3.sql
app-@hex(8).min.js
pkg/secret/manager_test.go
k8s/secrets/db2.yaml
var/cache/prod/ContainerA1b2C3d/getTokenService.php
.env.production.local
""",
    "encoded and numbers": r"""
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk@b64(64)
data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7
data:font/woff2;base64,d09GMgABAAAAA@b64(80)
the icon is PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4=
iVBORw0KGgoAAAANSUhEUgAAAAUA@b64(120)
-----BEGIN CERTIFICATE-----\nMIID@b64(60)\n-----END CERTIFICATE-----
-----BEGIN PUBLIC KEY-----\nMIIB@b64(60)\n-----END PUBLIC KEY-----
ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ@b64(64) dana@laptop
version 4.18.2-rc.1+build.20240501
port 5432 is taken by postgres14
192.168.100.200:8443 answers 502
2024-05-01T10:00:00.123456Z
+49 151 23456789 is the hotline
ISBN 978-3-16-148410-0
IPv6 2001:0db8:85a3:0000:0000:8a2e:0370:7334
MAC 3D:F2:C9:A6:B3:4F
color #1e2d3c80 and #ff8800
matrix of 1024x768 at 60Hz
p95 is 182 ms, p99 is 1.4 s
latitude 52.520008, longitude 13.404954
regex ^[A-Za-z0-9+/]{40}$ matches AWS keys
base64 -d turns aGVsbG8gd29ybGQ= into hello world
glyphs: abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789
error code 0x80070005 means access denied
git describe says v2.3.1-14-g@hex(7)
""",
    "plain notes": r"""
Deploys run from the release branch every Tuesday
The importer needs 2 GB of memory for 50000 rows
Use uv run pytest -n 2, because 4 workers run out of file handles
The staging cluster is called acme-stg-2 and lives in eu-west-1
Retry with exponential backoff: 1s, 2s, 4s
nginx proxies /api to port 8000
Feature flags are read once per request
The login page is cached for 5 minutes by Cloudflare
Never call the billing API inside of a transaction
User dana@acme.io owns the dashboard
mTLS between services since Istio1.20
Set LOG_LEVEL=debug2 to see SQL
The auth service is at auth.internal:8443
The basic plan has 3 seats
the master branch is protected
""",
    "written after the rules": r"""
the password is incorrect for this user
the password was leaked in 2023
password is case-sensitive
a password is needed for port 5432
The password is set in values.yaml
the password is validated by zxcvbn
the passphrase is optional
with password grant the API returns 400
with password "required" the form stays closed
the token is base64url encoded
the token is stored in localStorage
the token count is 4096
the API key is passed in the X-Api-Key header
the api key is optional in v2
the secret is mounted from vault-agent-1
the key is order_2024_05_01
the key is user-profile-cache-v2
token endpoint: https://auth.acme.io/oauth2/token
the key for translations is login.title2
pass --no-cache2 to docker
pass userId2 as the second argument
use pass the pigs
tests pass in 3.2s
pin numpy==1.26.4
Passwort ist leer
das Passwort ist optional
Passwort: siehe Vault
das Passwort wird gehasht
le mot de passe est vide
mot de passe : voir le coffre
la contraseña es opcional
密码是可选的
密码为空
密码: 见保险库
mysql -u root -p
redis-cli -a $REDIS_PASSWORD ping
sshpass -f /run/secret ssh host
docker login -u $USER -p $TOKEN
htpasswd -c .htpasswd alice
openssl enc -pass env:KEY2
sudo -S reads from stdin
ldapsearch -x -W -D cn=admin
curl -b cookies.txt https://x
Cookie: lang=en; consent=yes
Set-Cookie: theme=dark; Max-Age=31536000
jti @uuid()
hash @hex(64)
checksum @hex(40)
cache key @hex(32)
the commit is @hex(40)
the primary key is a bigint
key rotation every 90 days
access key id column is 20 chars
token: string;
password: string;
"password": "Password"
"password": "Mot de passe"
"forgot": "Forgot your password?"
password_label = "Choose a new password"
secret santa 2024
seed = 42
random seed is 1234567890
db/seeds/users2.rb
the seed for tests is 20240501
Settings > API keys > New key 2
""",
}


class Text(NamedTuple):
    kind: str
    text: str
    secret: str
    held_out: bool


def with_secrets() -> list[Text]:
    """The texts of the first corpus, the marks around their secrets taken away."""
    return [
        Text(kind, text.replace("⟦", "").replace("⟧", ""), _marked(text), held_out)
        for kind, text, held_out in _texts(WITH_SECRETS)
    ]


def harmless() -> list[Text]:
    """The texts of the second corpus."""
    return [Text(kind, text, "", held_out) for kind, text, held_out in _texts(HARMLESS)]


def leaks(secret: str, text: str) -> bool:
    """Whether all of the secret, or half of one that is long enough to matter, is in the text."""
    half = len(secret) // 2
    pieces = [secret] if len(secret) < 16 else [secret[:half], secret[half:]]
    return any(piece in text for piece in pieces)


def _marked(text: str) -> str:
    found = re.search("⟦([^⟧]+)⟧", text)
    assert found, text
    return found[1]


def _texts(corpus: dict[str, str]) -> Iterator[tuple[str, str, bool]]:
    number = 0
    for kind, lines in corpus.items():
        for line in lines.strip().splitlines():
            chance = random.Random(line)
            text = re.sub(
                r"@([a-z_0-9]+)\((\d*)\)",
                lambda call, chance=chance: MADE[call[1]](chance, int(call[2] or 0)),
                line.replace(r"\n", "\n"),
            )
            yield kind, text, bool(number % 2)
            number += 1


def _drawn(signs: str, chance: random.Random, length: int) -> str:
    return "".join(chance.choices(signs, k=length))


def _mixed(chance: random.Random, length: int) -> str:
    """Letters of both cases and digits, and surely one of each."""
    rest = _drawn(string.ascii_letters + string.digits, chance, length - 3)
    return chance.choice("abcdef") + chance.choice("GHJKLM") + chance.choice("23456") + rest


def _basic(chance: random.Random, _: int) -> str:
    return base64.b64encode(f"bot:{_mixed(chance, 14)}".encode()).decode()


def _jwt(chance: random.Random, _: int) -> str:
    parts = ('{"alg":"HS256","typ":"JWT"}', f'{{"sub":"{chance.random()}"}}')
    head, claims = (base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in parts)
    return f"{head}.{claims}.{_mixed(chance, 43)}"


def _pem(chance: random.Random, _: int) -> str:
    return "\n".join(_mixed(chance, length) for length in (64, 64, 64, 31))


def _wif(chance: random.Random, compressed: bool) -> str:
    payload = b"\x80" + chance.randbytes(32) + b"\x01" * compressed
    check = hashlib.sha256(hashlib.sha256(payload).digest()).digest()[:4]
    number, text = int.from_bytes(payload + check), ""
    while number:
        number, digit = divmod(number, 58)
        text = _BASE58[digit] + text
    return text


_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

MADE = {
    "hex": lambda chance, length: _drawn("0123456789abcdef", chance, length),
    "upperhex": lambda chance, length: _drawn("0123456789ABCDEF", chance, length),
    "digits": lambda chance, length: _drawn("123456789", chance, length),
    "caps": lambda chance, length: _drawn(string.ascii_uppercase + "234567", chance, length),
    "b32": lambda chance, length: _drawn(string.ascii_uppercase + "234567", chance, length),
    "b64": lambda chance, length: _mixed(chance, length - 2) + "/+",
    "url64": lambda chance, length: _mixed(chance, length - 2) + "-_",
    "base58": lambda chance, length: _drawn(_BASE58, chance, length),
    "mix": _mixed,
    "uuid": lambda chance, _: "-".join(
        _drawn("0123456789abcdef", chance, length) for length in (8, 4, 4, 4, 12)
    ),
    "basic": _basic,
    "jwt": _jwt,
    "pem": _pem,
    "wif": lambda chance, _: _wif(chance, False),
    "wif_compressed": lambda chance, _: _wif(chance, True),
}
