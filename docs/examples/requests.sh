#!/bin/sh
# The three operations with curl. Stops at the first one that fails, after printing its error.
#   BASE_URL=http://127.0.0.1:8080 PUBLIC_KEY=… SECRET_KEY=… CUSTOMER=user-1 sh requests.sh
# If the service has an ADMIN_PORT, set ADMIN_URL to that address.
set -eu

post() {
  url=$1 key=$2 body=$3
  shift 3
  # curl retries while the service restarts or answers 429 or 503; --fail-with-body prints the error and exits with 22.
  curl --silent --show-error --fail-with-body --retry 4 --retry-connrefused --max-time 35 \
    -H "Authorization: Api-Key $key" -H 'Content-Type: application/json' "$@" -d "$body" "$url"
}

echo 'Record attribution' >&2
post "$BASE_URL/api/v2/web-api/attribution/" "$PUBLIC_KEY" \
  "{\"customer_user_id\":\"$CUSTOMER\",\"status\":\"non_organic\",\"channel\":\"social\",\"campaign\":\"spring\"}"

echo 'Grant an access level' >&2
# Repeating an Idempotency-Key within 24 hours returns the first response and changes nothing.
post "$BASE_URL/api/v2/server-side-api/purchase/profile/grant/access-level/" "$SECRET_KEY" \
  '{"access_level_id":"premium","expires_at":null}' \
  -H "service-customer-user-id: $CUSTOMER" -H "Idempotency-Key: grant-$CUSTOMER-$(date +%s)"
echo

echo 'Retrieve a chart' >&2
post "${ADMIN_URL:-$BASE_URL}/api/v1/client-api/metrics/analytics/" "$SECRET_KEY" \
  '{"chart_id":"installs","period_unit":"month","filters":{"date":["2026-01-01","2026-12-31"]}}'
echo
