//! Points on the unit sphere.

/// The radius of the earth in metres.
pub(crate) const RADIUS: f64 = 6_371_010.0;

/// A vector; a point of the sphere is a vector of length 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) z: f64,
}

impl Point {
    pub(crate) const ZERO: Point = Point {
        x: 0.0,
        y: 0.0,
        z: 0.0,
    };

    /// The point at a longitude and latitude in degrees; `None` outside ±180 and ±90.
    pub(crate) fn at(longitude: f64, latitude: f64) -> Option<Point> {
        if !(longitude.abs() <= 180.0 && latitude.abs() <= 90.0) {
            return None;
        }
        let (longitude, latitude) = (longitude.to_radians(), latitude.to_radians());
        Some(Point {
            x: latitude.cos() * longitude.cos(),
            y: latitude.cos() * longitude.sin(),
            z: latitude.sin(),
        })
    }

    /// Longitude and latitude in degrees, rounded as in the S2 library. Adding 0 makes 0 of -0.
    pub(crate) fn degrees(self) -> (f64, f64) {
        let longitude = (self.y + 0.0).atan2(self.x + 0.0);
        let latitude = (self.z + 0.0).atan2((self.x * self.x + self.y * self.y).sqrt());
        (longitude.to_degrees(), latitude.to_degrees())
    }

    pub(crate) fn dot(self, other: Point) -> f64 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    pub(crate) fn cross(self, other: Point) -> Point {
        Point {
            x: self.y * other.z - self.z * other.y,
            y: self.z * other.x - self.x * other.z,
            z: self.x * other.y - self.y * other.x,
        }
    }

    pub(crate) fn plus(self, other: Point) -> Point {
        Point {
            x: self.x + other.x,
            y: self.y + other.y,
            z: self.z + other.z,
        }
    }

    pub(crate) fn times(self, factor: f64) -> Point {
        Point {
            x: self.x * factor,
            y: self.y * factor,
            z: self.z * factor,
        }
    }

    pub(crate) fn length(self) -> f64 {
        self.dot(self).sqrt()
    }

    /// The unit vector in this direction.
    pub(crate) fn unit(self) -> Point {
        self.times(1.0 / self.length())
    }

    /// The angle to another point in radians.
    pub(crate) fn angle(self, other: Point) -> f64 {
        self.cross(other).length().atan2(self.dot(other))
    }

    /// The point at an angle from here on the great circle through `toward`, a unit vector that is orthogonal to this point.
    pub(crate) fn on_ray(self, toward: Point, angle: f64) -> Point {
        self.times(angle.cos())
            .plus(toward.times(angle.sin()))
            .unit()
    }

    /// The point at a fraction of the arc from here to `other`.
    pub(crate) fn between(self, other: Point, fraction: f64) -> Point {
        let across = self.cross(other).unit().cross(self);
        self.on_ray(across, self.angle(other) * fraction)
    }

    /// The point of the arc from `a` to `b` that is nearest to this point.
    pub(crate) fn nearest_on_arc(self, a: Point, b: Point) -> Point {
        let normal = a.cross(b);
        let within_arc = normal.cross(a).dot(self) > 0.0 && b.cross(normal).dot(self) > 0.0;
        if within_arc && normal.length() > 0.0 {
            let normal = normal.unit();
            self.plus(normal.times(-normal.dot(self))).unit()
        } else if self.angle(a) <= self.angle(b) {
            a
        } else {
            b
        }
    }

    /// A unit vector that is orthogonal to this point, which is at the start of buffers. The rule is that of the S2 library.
    pub(crate) fn orthogonal(self) -> Point {
        let (x, y, z) = (self.x.abs(), self.y.abs(), self.z.abs());
        let mut other = Point {
            x: 0.012,
            y: 0.0053,
            z: 0.00457,
        };
        // The axis before the largest coordinate.
        if x > y && x > z {
            other.z = 1.0;
        } else if y > z {
            other.x = 1.0;
        } else {
            other.y = 1.0;
        }
        self.cross(other).unit()
    }

    /// The angle to the nearest point of the arc from `a` to `b`.
    pub(crate) fn angle_to_arc(self, a: Point, b: Point) -> f64 {
        let normal = a.cross(b);
        let within_arc = normal.cross(a).dot(self) > 0.0 && b.cross(normal).dot(self) > 0.0;
        if within_arc && normal.length() > 0.0 {
            let normal = normal.unit();
            normal.dot(self).abs().atan2(normal.cross(self).length())
        } else {
            self.angle(a).min(self.angle(b))
        }
    }
}
